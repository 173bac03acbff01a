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

/// A container that a container daemon runs for an attempt. It is no process of ours: nothing that the kernel
/// does to the supervisor ends it. So its name is noted in the attempt's directory before it is made, and the
/// attempt counts as alive until it is removed (docs/adr/0017-containers-by-an-engine.md).
namespace trainyard::replica {

/// What containers are found by: the directory of all attempts, and the attempt.
inline constexpr const char* kAttemptsLabel = "trainyard.attempts";
inline constexpr const char* kAttemptLabel = "trainyard.attempt";
[[nodiscard]] std::map<std::string, std::string> ContainerLabels(const AttemptDir& dir);

/// Ends the name of the container that installs the attempt's packages.
inline constexpr std::string_view kPackagesSuffix = "-packages";

/// A container of this attempt, named so that installations which share a container daemon do not meet.
[[nodiscard]] std::string ContainerName(const AttemptDir& dir);

/// Notes, durably, that the attempt may have a container of that name in the daemon behind the socket.
[[nodiscard]] Status NoteContainer(const AttemptDir& dir, const std::string& socket, const std::string& name);

/// Whether some are noted: one system call.
[[nodiscard]] bool HasNotedContainers(const AttemptDir& dir);

/// The first processes of those that run, as this machine numbers them: the daemon is asked for each. What it
/// does not know is left out.
[[nodiscard]] std::vector<pid_t> NotedContainerPids(const AttemptDir& dir);

/// Removes the containers that are noted, and then the note; without a note there is nothing to do. An error
/// says that a container may still run.
[[nodiscard]] Status RemoveNotedContainers(const AttemptDir& dir);

/// Removes the containers that attempts below this directory have in the daemon although nothing of those
/// attempts lives, as `lives` says. Errors: its own, and those of DaemonApi.
[[nodiscard]] Status RemoveLeftContainers(const std::string& socket, const std::string& attempts_dir,
                                          const std::function<Result<bool>(const AttemptDir&)>& lives);

/// How it ended: what the process that ran it leaves in the attempt's directory.
struct ContainerEnd {
  int wait_status = 0;  ///< as waitpid gives it
  bool out_of_memory = false;
  bool lost = false;    ///< it ran, or may have, and its daemon or its output went away
  std::string failure;  ///< why it could not be run or followed to its end; empty: it was
  friend bool operator==(const ContainerEnd&, const ContainerEnd&) = default;
};
/// Nothing where that process was killed first.
[[nodiscard]] std::optional<ContainerEnd> ReadContainerEnd(const AttemptDir& dir);

/// One container from its creation to its end. It is noted already.
struct ContainerRun {
  AttemptDir dir;
  std::string socket;
  std::string name;
  DaemonContainer container;
  std::string stop_signal;  ///< what SIGTERM becomes
};

/// The body of a process of its own: creates and starts the container, writes its output to 1 and 2, passes
/// SIGTERM on, waits for its end, leaves a ContainerEnd and removes it. Returns the status of the process.
[[nodiscard]] int RunContainer(const ContainerRun& run);

}  // namespace trainyard::replica
