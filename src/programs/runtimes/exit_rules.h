#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rules/diagnosis/observation.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// What was seen of the end of the user's process.
struct ObservedEnd {
  bool reported = false;        ///< its wait status is known; not so when everything was killed at once
  int wait_status = 0;          ///< as waitpid gives it
  bool stop_requested = false;  ///< the server or the system asked for the end
  bool shut_down = false;       ///< it was the system (a signal to the supervisor)
  std::string stop_reason;
  std::int64_t oom_kills = 0;          ///< processes of the replica that the kernel killed for memory
  std::int64_t memory_bytes = 0;       ///< the limit; 0: none
  std::int64_t memory_peak_bytes = 0;  ///< 0: unknown
  bool counts_oom_kills = true;        ///< false: this machine does not, and `oom_kills` says nothing
  std::int64_t processes_limit = 0;    ///< processes and threads; 0: none
  std::int64_t processes_refused = 0;  ///< how often the kernel refused one more
  /// Why the program could not be run although its process was started (a container's); empty: it was.
  std::string failure;
  bool lost = false;  ///< it may have run when `failure` came, which is not its own fault
  bool operator==(const ObservedEnd&) const = default;
};

/// Cause, exit code, signal, memory, processes and message of the exit record; the traceback and times are
/// the caller's. Out of memory is what the kernel's count of the replica's own group says, and nothing else.
/// Pure: any thread.
[[nodiscard]] v1::ExitRecord DecideExit(const ObservedEnd& end);

/// Adds the diagnosis, from the record and the last lines of what the program (or, for a failed preparation,
/// the tool) wrote. @param counts_oom_kills  of the program's end; an end without a program has none to
/// count.
void Explain(const v1::Manifest& manifest, std::vector<diagnosis::OutputLine> last_lines,
             v1::ExitRecord& exit, bool counts_oom_kills = true);

/// What the runner logs as exit status: the code, or the signal's number negative. Source: spec lifecycle.md
/// section 6, "err".
[[nodiscard]] int LoggedStatus(const v1::ExitRecord& exit) noexcept;

}  // namespace trainyard::replica
