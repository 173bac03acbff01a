#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "rules/notices/destination.h"

namespace trainyard::notices {

/// The event that the job's state is; nothing while it has not ended.
[[nodiscard]] std::optional<Event> EndOf(const control::v1::JobRecord& job);

/// When a job that has not started waits long; nothing if it has started or ended, or is a trial.
[[nodiscard]] std::optional<SysTime> LongWaitAt(const control::v1::JobRecord& job,
                                                std::chrono::seconds limit);

/// What is sent.
struct Notice {
  std::string id;       ///< "17-failed": the same in each try and for each destination
  std::string job;      ///< "projects/p/jobs/j"
  std::string subject;  ///< one line: "Job census_1 failed (project demo)"
  std::string text;     ///< for people: a few lines
  std::string json;     ///< for programs: docs/notifications.md
  friend bool operator==(const Notice&, const Notice&) = default;
};
/// `server_url`: where the console is. `why_waiting`: a sentence, or empty.
[[nodiscard]] Notice Compose(const control::v1::JobRecord& job, Event event, const std::string& server_url,
                             const std::string& why_waiting = {});

/// A notice is given up when it could not be delivered for this long.
inline constexpr std::chrono::hours kDeliverFor{24};
inline constexpr std::chrono::seconds kPauseMax{3'600};
/// When a notice is tried again after `tries` failed tries: after a second, then after twice as long each
/// time, at most kPauseMax. Nothing: it is given up.
[[nodiscard]] std::optional<SysTime> NextTry(int tries, SysTime created, SysTime now);

}  // namespace trainyard::notices
