#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cli/gcloud/json_value.h"

/// The rules of `stream-logs`: which entries to request, which were printed, and the form of a line. Source:
/// gcloud's LogFetcher and log_utils; docs/spec "stream-logs". The time zone of lines is the process's.
namespace trainyard::cli {

inline constexpr int kLogPageSize = 1000;

/// How far the log was read. Timestamps and insert ids are compared as text; on the server both only grow.
class LogPosition {
 public:
  /// Moves to the entry. False if it is not after the position: it was read before.
  [[nodiscard]] bool Advance(std::string_view timestamp, std::string_view insert_id);
  /// The part of the filter that excludes entries read before.
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

/// The body of entries:list. `until`: only entries before it; absent for all. With an empty `page_token` it
/// requests the first page; otherwise `page_size` is the number of entries that are still missing.
[[nodiscard]] Json LogRequest(const JobLogQuery& query, const LogPosition& position,
                              std::optional<SysTime> until, int page_size, const std::string& page_token);

/// The lines of an entry, without line ends: severity, local time, task, trial and message, separated by
/// tabs. Each line of the message becomes a line of its own, unless `multiline`.
[[nodiscard]] std::vector<std::string> LogLines(const Json& entry, bool multiline);

/// Python's str.splitlines.
[[nodiscard]] std::vector<std::string_view> SplitLines(std::string_view text);

/// One event with data.
struct ServerEvent {
  std::string type;  ///< empty: "message"
  std::string id;    ///< the last id, of this event or an earlier one
  std::string data;
  friend bool operator==(const ServerEvent&, const ServerEvent&) = default;
};

/// Parses a stream of server-sent events from any pieces of it. Source: HTML standard, "Parsing an event
/// stream". Pure.
class EventParser {
 public:
  /// The events that these bytes complete.
  [[nodiscard]] std::vector<ServerEvent> TakeBytes(std::string_view bytes);

 private:
  void TakeLine(std::string_view line, std::vector<ServerEvent>& events);

  std::string line_;           ///< the incomplete line
  bool after_return_ = false;  ///< the last byte was '\r': a newline now belongs to it
  bool has_data_ = false;
  ServerEvent event_;
};

}  // namespace trainyard::cli
