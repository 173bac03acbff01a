#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/runtimes/daemon_api_request.h"

/// A container that a container daemon runs for an attempt. It is not our process, so it does not end with
/// the supervisor. Therefore its name is noted in the attempt's directory before it is created, and the
/// attempt counts as alive until it is removed (docs/adr/0017-containers-by-an-engine.md).
namespace trainyard::replica {

/// Labels by which containers are found: the directory of all attempts, and the attempt.
inline constexpr const char* kAttemptsLabel = "trainyard.attempts";
inline constexpr const char* kAttemptLabel = "trainyard.attempt";
[[nodiscard]] std::map<std::string, std::string> ContainerLabels(const AttemptDir& dir);

/// The suffix of the name of the container that installs the attempt's packages.
inline constexpr std::string_view kPackagesSuffix = "-packages";

/// The name of the attempt's container. It is unique among installations that share a container daemon.
[[nodiscard]] std::string ContainerName(const AttemptDir& dir);

/// Records durably that the attempt may have a container of that name in the daemon at the socket.
[[nodiscard]] Status NoteContainer(const AttemptDir& dir, const std::string& socket, const std::string& name);

/// Whether any are noted: one system call.
[[nodiscard]] bool HasNotedContainers(const AttemptDir& dir);

/// The pids, on this machine, of the first processes of the running containers: the daemon is asked about
/// each. Containers that it does not know are left out.
[[nodiscard]] std::vector<pid_t> NotedContainerPids(const AttemptDir& dir);

/// Removes the noted containers, and then the note; does nothing without a note. An error means that a
/// container may still run.
[[nodiscard]] Status RemoveNotedContainers(const AttemptDir& dir);

/// Removes containers in the daemon that belong to attempts below this directory for which `lives` returns
/// false. Errors: those of `lives` and of DaemonApi.
[[nodiscard]] Status RemoveLeftContainers(const std::string& socket, const std::string& attempts_dir,
                                          const std::function<Result<bool>(const AttemptDir&)>& lives);

/// How a container ended: the process that ran it leaves this in the attempt's directory.
struct ContainerEnd {
  int wait_status = 0;  ///< as waitpid gives it
  bool out_of_memory = false;
  bool lost = false;                   ///< it ran, or may have run, and its daemon or its output was lost
  std::string failure;                 ///< why it could not be run or followed to its end; empty: it was
  std::int64_t memory_bytes = 0;       ///< its limit; 0: none, or not known
  std::int64_t memory_peak_bytes = 0;  ///< 0: not known
  friend bool operator==(const ContainerEnd&, const ContainerEnd&) = default;
};
/// Empty if that process was killed before it could write this.
[[nodiscard]] std::optional<ContainerEnd> ReadContainerEnd(const AttemptDir& dir);
/// If the file cannot be written, ReadContainerEnd returns the same as for a killed process.
void WriteContainerEnd(const AttemptDir& dir, const ContainerEnd& end);
/// The exit status of that process for this end.
[[nodiscard]] int ExitStatusOf(const ContainerEnd& end);

/// One container to create and follow to its end. It must already be noted.
struct ContainerRun {
  AttemptDir dir;
  std::string socket;
  std::string name;
  DaemonContainer container;
  std::string stop_signal;  ///< the signal to send instead of SIGTERM
};

/// The main function of a child process: creates and starts the container, writes its output to 1 and 2,
/// forwards SIGTERM, waits for its end, writes a ContainerEnd and removes it. Returns the exit status of the
/// process.
[[nodiscard]] int RunContainer(const ContainerRun& run);

}  // namespace trainyard::replica
