#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rules/diagnosis/observation.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// What is known about the end of the user's process.
struct ObservedEnd {
  bool reported = false;        ///< its wait status is known; false if everything was killed at once
  int wait_status = 0;          ///< as waitpid gives it
  bool stop_requested = false;  ///< the server or the system asked for the end
  bool shut_down = false;       ///< the system requested it (with a signal to the supervisor)
  std::string stop_reason;
  std::int64_t oom_kills = 0;          ///< processes of the replica that the kernel killed for memory
  std::int64_t memory_bytes = 0;       ///< the limit; 0: none
  std::int64_t memory_peak_bytes = 0;  ///< 0: unknown
  bool counts_oom_kills = true;  ///< false: this machine does not count them, and `oom_kills` means nothing
  std::int64_t processes_limit = 0;    ///< processes and threads; 0: none
  std::int64_t processes_refused = 0;  ///< how often the kernel refused one more
  /// Why the program could not be run although its process was started (a container's); empty: it was.
  std::string failure;
  bool lost = false;  ///< it may have been running when `failure` happened, which is not its own fault
  bool operator==(const ObservedEnd&) const = default;
};

/// Determines cause, exit code, signal, memory, processes and message of the exit record; the caller adds
/// traceback and times. The cause is "out of memory" only if the kernel counted a kill in the replica's own
/// group. Pure: any thread.
[[nodiscard]] v1::ExitRecord DecideExit(const ObservedEnd& end);

/// A warning about a program that succeeded although the kernel killed a process of its replica: a worker of
/// a data loader, for example. Empty: there is none. Pure: any thread.
[[nodiscard]] std::string KilledWorkerWarning(const ObservedEnd& end, const v1::ExitRecord& exit);

/// Adds the diagnosis, from the record and the last lines of the program's output (or, for a failed
/// preparation, the tool's).
struct KnownOfEnd {
  bool counts_oom_kills = true;    ///< that of ObservedEnd; the default is for an end without a program
  bool import_is_sibling = false;  ///< that of diagnosis::Symptoms
};
void Explain(const v1::Manifest& manifest, std::vector<diagnosis::OutputLine> last_lines,
             v1::ExitRecord& exit, KnownOfEnd known = {});

/// The exit status as the runner logs it: the code, or the negative number of the signal. Source: spec
/// lifecycle.md section 6, "err".
[[nodiscard]] int LoggedStatus(const v1::ExitRecord& exit) noexcept;

}  // namespace trainyard::replica
