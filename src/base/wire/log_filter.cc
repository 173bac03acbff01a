#include "base/wire/log_filter.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "base/overloaded.h"
#include "base/wire/filter_operand.h"
#include "trainyard/logging/v2/logging.pb.h"

namespace trainyard::wire {
namespace {

using std::chrono::nanoseconds;

// gcloud asks for the first two; entries carry the third (docs/spec, "Logs").
const std::array<std::vector<std::string>, 3> kTaskNamePaths{{
    {"resource", "labels", "task_name"},
    {"labels", "task_name"},
    {"labels", "ml.googleapis.com/task_name"},
}};

/// Intersects two required texts, absent meaning any; two different texts match nothing.
void IntersectText(std::optional<std::string>& into, const std::optional<std::string>& other, bool& nothing) {
  if (!other) return;
  if (into && *into != *other) nothing = true;
  into = other;
}

LogBounds Intersect(LogBounds a, const LogBounds& b) {
  a.nothing = a.nothing || b.nothing;
  IntersectText(a.job_id, b.job_id, a.nothing);
  // The task labels of one entry may differ, so two names do not exclude each other; either may be used.
  if (!a.task_name) a.task_name = b.task_name;
  // Each side's insert id applies to its own earliest time only.
  const auto id_at = [](const LogBounds& bounds, SysTime time) {
    return bounds.earliest == time ? bounds.insert_id_above : std::nullopt;
  };
  const SysTime earliest = std::max(a.earliest, b.earliest);
  a.insert_id_above = std::max(id_at(a, earliest), id_at(b, earliest));
  a.earliest = earliest;
  a.latest = std::min(a.latest, b.latest);
  if (a.earliest > a.latest) a.nothing = true;
  return a;
}

LogBounds Unite(const LogBounds& a, const LogBounds& b) {
  if (a.nothing) return b;
  if (b.nothing) return a;
  LogBounds both;
  if (a.job_id == b.job_id) both.job_id = a.job_id;
  if (a.task_name == b.task_name) both.task_name = a.task_name;
  both.earliest = std::min(a.earliest, b.earliest);
  both.latest = std::max(a.latest, b.latest);
  if (a.earliest == b.earliest) {
    both.insert_id_above = std::min(a.insert_id_above, b.insert_id_above);  // nullopt is less than any text
  } else {
    both.insert_id_above = a.earliest < b.earliest ? a.insert_id_above : b.insert_id_above;
  }
  return both;
}

LogBounds TimeBounds(Comparator comparator, SysTime time) {
  LogBounds bounds;
  const bool at_end = time == SysTime::max();
  const bool at_start = time == SysTime::min();
  switch (comparator) {
    case Comparator::kEqual:
    case Comparator::kHas:
      bounds.earliest = time;
      bounds.latest = time;
      break;
    case Comparator::kLess: bounds.latest = at_start ? time : time - nanoseconds(1); break;
    case Comparator::kLessOrEqual: bounds.latest = time; break;
    case Comparator::kGreater: bounds.earliest = at_end ? time : time + nanoseconds(1); break;
    case Comparator::kGreaterOrEqual: bounds.earliest = time; break;
    case Comparator::kNotEqual:
    case Comparator::kMatches:
    case Comparator::kNotMatches: break;
  }
  return bounds;
}

LogBounds BoundsOf(const Comparison& comparison) {
  static const std::vector<std::string> kJobId{"resource", "labels", "job_id"};
  LogBounds bounds;
  if (AsksForPresence(comparison)) return bounds;
  if (comparison.path.size() == 1 && comparison.path[0] == "timestamp") {
    const auto time = ReadTime(comparison.value);
    return time ? TimeBounds(comparison.comparator, *time) : bounds;
  }
  if (comparison.path.size() == 1 &&
      (comparison.path[0] == "insertId" || comparison.path[0] == "insert_id")) {
    if (comparison.comparator == Comparator::kGreater) bounds.insert_id_above = comparison.value;
    return bounds;
  }
  const bool glob = !comparison.quoted && comparison.value.contains('*');
  if (comparison.comparator != Comparator::kEqual || glob) return bounds;
  if (comparison.path == kJobId) bounds.job_id = comparison.value;
  if (std::ranges::find(kTaskNamePaths, comparison.path) != kTaskNamePaths.end())
    bounds.task_name = comparison.value;
  return bounds;
}

/// The insert id of `insertId > "x"`, which holds at any time.
std::optional<std::string> InsertIdAbove(const Filter& filter) {
  const auto* comparison = std::get_if<Comparison>(&filter.node);
  return comparison != nullptr && comparison->comparator == Comparator::kGreater
             ? BoundsOf(*comparison).insert_id_above
             : std::nullopt;
}

LogBounds BoundsOf(const And& all) {
  LogBounds bounds;
  for (const auto& term : all.terms) bounds = Intersect(bounds, ExtractBounds(term));
  for (const auto& term : all.terms)
    bounds.insert_id_above = std::max(bounds.insert_id_above, InsertIdAbove(term));
  return bounds;
}

bool NamesSomething(const std::vector<std::string>& path) {
  static constexpr std::array<std::string_view, 8> kNames{"labels",   "insertId", "insert_id", "logName",
                                                          "log_name", "spanId",   "span_id",   "trace"};
  if (std::ranges::find(kNames, path[0]) != kNames.end()) return true;
  return path.size() > 1 && path[0] == "resource" && path[1] == "labels";
}

/// The API's number of a severity becomes the name, under which our enum has another number.
Status NameSeverity(Comparison& comparison) {
  constexpr int kStep = 100;
  const auto number = ReadNumber(comparison.value);
  if (!number || comparison.pattern != nullptr) return {};
  for (int value = 0; value < logging::v2::LogEntry::Severity_ARRAYSIZE; ++value) {
    if (*number != value * kStep) continue;
    comparison.value = logging::v2::LogEntry::Severity_Name(value);
    return {};
  }
  return std::unexpected(
      InvalidArgument("filter", "Invalid value for field 'severity': '" + comparison.value + "'"));
}

/// The parts of the language that are specific to log entries.
Status Adapt(Filter& filter) {
  const auto all = [](std::vector<Filter>& terms) -> Status {
    for (Filter& term : terms) TY_RETURN_IF_ERROR(Adapt(term));
    return {};
  };
  return std::visit(Overloaded{
                        [&](And& terms) { return all(terms.terms); },
                        [&](Or& terms) { return all(terms.terms); },
                        [&](Not& inverse) { return all(inverse.term); },
                        [](Comparison& comparison) -> Status {
                          comparison.any_case = !NamesSomething(comparison.path);
                          const bool severity =
                              comparison.path.size() == 1 && comparison.path[0] == "severity";
                          return severity ? NameSeverity(comparison) : Status();
                        },
                        [](Search&) { return Status(); },
                    },
                    filter.node);
}

}  // namespace

Result<Filter> ParseLogFilter(std::string_view text) {
  TY_TRY(Filter filter, ParseFilter(text));
  TY_RETURN_IF_ERROR(Adapt(filter));
  TY_RETURN_IF_ERROR(CheckFilter(filter, *logging::v2::LogEntry::descriptor()));
  return filter;
}

LogBounds ExtractBounds(const Filter& filter) {
  return std::visit(Overloaded{
                        [](const And& all) { return BoundsOf(all); },
                        [](const Or& any) {
                          LogBounds bounds{
                              .nothing = true, .job_id = {}, .task_name = {}, .insert_id_above = {}};
                          for (const auto& term : any.terms) bounds = Unite(bounds, ExtractBounds(term));
                          return bounds;
                        },
                        [](const Not&) { return LogBounds(); },
                        [](const Comparison& comparison) { return BoundsOf(comparison); },
                        [](const Search&) { return LogBounds(); },
                    },
                    filter.node);
}

}  // namespace trainyard::wire
