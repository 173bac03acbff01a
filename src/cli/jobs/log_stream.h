#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cli/gcloud/json_value.h"

/// The rules of `stream-logs`: which entries to ask for, which were seen, how a line looks. Source: gcloud's
/// LogFetcher and log_utils; docs/spec "stream-logs". The time zone of lines is the process's.
namespace trainyard::cli {

inline constexpr int kLogPageSize = 1000;

/// How far the log was read. Timestamps and insert ids are compared as text; the server keeps both growing.
class LogPosition {
 public:
  /// False if the entry is not behind the position: it was seen before.
  [[nodiscard]] bool Advance(std::string_view timestamp, std::string_view insert_id);
  /// The part of the filter that leaves out what was seen.
  [[nodiscard]] std::string LowerBound() const;

 private:
  std::string timestamp_ = "1970-01-01T01:00:00.000000000Z";
  std::string insert_id_;
  bool shared_timestamp_ = false;
};

struct JobLogQuery {
  std::string project;
  std::string job_id;
  std::optional<std::string> task_name;
};

/// The body of entries:list. `until`: only entries before it; absent for all. `page_token` empty: the first
/// page, else `page_size` is what is still wanted.
[[nodiscard]] Json LogRequest(const JobLogQuery& query, const LogPosition& position,
                              std::optional<SysTime> until, int page_size, const std::string& page_token);

/// The printed lines of an entry, without line ends: severity, local time, task, trial, message, separated by
/// tabs. A message of several lines becomes several unless `multiline`.
[[nodiscard]] std::vector<std::string> LogLines(const Json& entry, bool multiline);

/// Python's str.splitlines.
[[nodiscard]] std::vector<std::string_view> SplitLines(std::string_view text);

}  // namespace trainyard::cli
