#include "stores/audit/audit_query.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "base/overloaded.h"

namespace trainyard::audit {

namespace {

using wire::And;
using wire::Comparator;
using wire::Comparison;
using wire::Filter;
using wire::Not;
using wire::Or;
using wire::Search;

constexpr std::string_view kName = "cloudaudit.googleapis.com";

bool NamesOne(const Comparison& comparison) {
  if (comparison.path.size() != 1) return false;
  if (comparison.path.front() != "logName" && comparison.path.front() != "log_name") return false;
  switch (comparison.comparator) {
    case Comparator::kEqual:
    case Comparator::kHas: return comparison.value.contains(kName);
    case Comparator::kMatches:
      // A regular expression may have backslashes before the dots; "a|b" may match other logs too.
      return comparison.value.contains("cloudaudit") && !comparison.value.contains('|');
    case Comparator::kNotEqual:
    case Comparator::kLess:
    case Comparator::kLessOrEqual:
    case Comparator::kGreater:
    case Comparator::kGreaterOrEqual:
    case Comparator::kNotMatches: break;
  }
  return false;
}

}  // namespace

bool NamesAuditLogs(const Filter& filter) {  // NOLINT(misc-no-recursion): as deep as kFilterDepthMax
  return std::visit(
      Overloaded{[](const And& both) { return std::ranges::any_of(both.terms, NamesAuditLogs); },
                 [](const Or& either) {
                   return !either.terms.empty() && std::ranges::all_of(either.terms, NamesAuditLogs);
                 },
                 [](const Not&) { return false; },
                 [](const Comparison& comparison) { return NamesOne(comparison); },
                 [](const Search&) { return false; }},
      filter.node);
}

}  // namespace trainyard::audit
