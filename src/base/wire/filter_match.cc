#include <google/protobuf/message.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "base/overloaded.h"
#include "base/wire/filter.h"
#include "base/wire/filter_operand.h"
#include "base/wire/filter_value.h"
#include "base/wire/time.h"

namespace trainyard::wire {
namespace {

/// `value OP operand` for ordered values; `:` is equality.
template <class T>
bool Compare(Comparator comparator, const T& value, const T& operand) {
  switch (comparator) {
    case Comparator::kEqual:
    case Comparator::kHas:
    case Comparator::kNotEqual: return value == operand;  // != is the inverse of =, over all values
    case Comparator::kLess: return value < operand;
    case Comparator::kLessOrEqual: return value <= operand;
    case Comparator::kGreater: return value > operand;
    case Comparator::kGreaterOrEqual: return value >= operand;
    case Comparator::kMatches:
    case Comparator::kNotMatches: return false;
  }
  return false;
}

template <class T>
bool CompareIf(Comparator comparator, const T& value, const std::optional<T>& operand) {
  return operand && Compare(comparator, value, *operand);
}

bool CompareText(const Comparison& comparison, const std::string& value) {
  const bool glob = !comparison.quoted && comparison.value.contains('*');
  switch (comparison.comparator) {
    case Comparator::kHas:
      return glob ? MatchesGlob(value, comparison.value) : ContainsIgnoringCase(value, comparison.value);
    case Comparator::kEqual:
    case Comparator::kNotEqual:
      if (glob) return MatchesGlob(value, comparison.value);
      return comparison.any_case ? EqualsIgnoringCase(value, comparison.value) : value == comparison.value;
    case Comparator::kMatches:
    case Comparator::kNotMatches: return re2::RE2::PartialMatch(value, *comparison.pattern);
    case Comparator::kLess:
    case Comparator::kLessOrEqual:
    case Comparator::kGreater:
    case Comparator::kGreaterOrEqual: return Compare(comparison.comparator, value, comparison.value);
  }
  return false;
}

bool CompareEnum(const Comparison& comparison, const google::protobuf::EnumValueDescriptor& value) {
  if (comparison.pattern != nullptr) return CompareText(comparison, value.name());
  const auto* operand = FindEnumValue(*value.type(), comparison.value);
  return operand != nullptr && Compare(comparison.comparator, value.number(), operand->number());
}

/// Whether one value satisfies the comparison; != and !~ are treated as = and =~, and inverted by the caller.
bool Holds(const Comparison& comparison, const FieldValue& found) {
  const Comparator comparator = comparison.comparator;
  const auto number = [&](auto value) {
    return CompareIf(comparator, static_cast<long double>(value), ReadNumber(comparison.value));
  };
  return std::visit(
      Overloaded{
          [&](const std::string& text) { return CompareText(comparison, text); },
          [&](double value) { return number(value); },
          [&](std::int64_t value) { return number(value); },
          [&](std::uint64_t value) { return number(value); },
          [&](bool value) { return CompareIf(comparator, value, ReadBool(comparison.value)); },
          [&](SysTime time) { return CompareIf(comparator, time, ReadTime(comparison.value)); },
          [&](std::chrono::nanoseconds length) {
            return CompareIf(comparator, length, ReadLength(comparison.value));
          },
          [&](const google::protobuf::EnumValueDescriptor* value) { return CompareEnum(comparison, *value); },
          [&](const NestedValue& nested) {
            return comparator == Comparator::kHas && ContainsText(*nested.message, comparison.value);
          },
      },
      found.value);
}

bool MatchesComparison(const Comparison& comparison, const google::protobuf::Message& message) {
  const auto values = ValuesAt(message, comparison.path);
  if (AsksForPresence(comparison)) return std::ranges::any_of(values, &FieldValue::is_set);
  const bool any = std::ranges::any_of(values, [&](const auto& value) { return Holds(comparison, value); });
  const bool inverse =
      comparison.comparator == Comparator::kNotEqual || comparison.comparator == Comparator::kNotMatches;
  return inverse ? !values.empty() && !any : any;
}

}  // namespace

bool Matches(const Filter& filter, const google::protobuf::Message& message) {
  const auto matches = [&](const Filter& term) { return Matches(term, message); };
  return std::visit(Overloaded{
                        [&](const And& all) { return std::ranges::all_of(all.terms, matches); },
                        [&](const Or& any) { return std::ranges::any_of(any.terms, matches); },
                        [&](const Not& inverse) { return !matches(inverse.term.front()); },
                        [&](const Comparison& comparison) { return MatchesComparison(comparison, message); },
                        [&](const Search& search) { return ContainsText(message, search.text); },
                    },
                    filter.node);
}

}  // namespace trainyard::wire
