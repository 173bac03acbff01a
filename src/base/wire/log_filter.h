#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/wire/filter.h"

/// Filters on log entries (entries.list). Pure: any thread.
namespace trainyard::wire {

/// ParseFilter and CheckFilter against logging.v2.LogEntry. Match entries with Matches(filter, entry).
///
/// Severities may be numbers, as the API's enum has them: 0, 100 (DEBUG) to 800 (EMERGENCY). `=` and `!=` of
/// text ignore case, as in Google's service, but not below `labels` and `resource.labels`, nor of insertId,
/// logName, trace and spanId: these are case-sensitive (a stream of job "J" does not show job "j").
[[nodiscard]] Result<Filter> ParseLogFilter(std::string_view text);

/// The bounds of a filter, for use with an index: every matching entry is within them, but not every entry
/// within them matches.
struct LogBounds {
  bool nothing = false;               ///< no entry can match
  std::optional<std::string> job_id;  ///< resource.labels.job_id is this
  std::optional<std::string>
      task_name;  ///< one of the task name labels has this value (see kTaskNamePaths in the source)
  SysTime earliest = SysTime::min();  ///< timestamp >= earliest
  SysTime latest = SysTime::max();    ///< timestamp <= latest
  /// Of the entries stamped exactly `earliest`, only those with a greater insert id: where the last poll
  /// ended.
  std::optional<std::string> insert_id_above;
  friend bool operator==(const LogBounds&, const LogBounds&) = default;
};

[[nodiscard]] LogBounds ExtractBounds(const Filter& filter);

}  // namespace trainyard::wire
