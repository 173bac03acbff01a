#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "base/result.h"
#include "programs/runtimes/daemon_container.h"

/// A program in another container of our pod, which has the image of the job. That container's process 1 is
/// our starter (inside/pod_starter.cc), which listens in a directory that both containers have: no container
/// runtime and no rights are needed. Source: issue 43, deliver 2.
namespace trainyard::replica {

/// Writes the static starter to the path (0755, atomically): `STARTER SOCKET` is the container's command. It
/// runs in images without a C library. Errors: those of ReplaceFile.
[[nodiscard]] Status WritePodStarter(const std::string& path);

/// One program to run in the pod's container.
struct PodRun {
  std::string socket;             ///< where the starter listens
  std::vector<std::string> argv;  ///< argv[0] without a '/' is looked up in PATH, in the container
  /// NAME=value, set over those of the main program (`whole`) that runs there, and of the container.
  std::vector<std::string> environment;
  std::string directory{};    ///< empty: the container's own working directory
  int stop_signal = SIGTERM;  ///< sent in place of SIGTERM
  bool terminal = false;      ///< stdin is a terminal that becomes the session's own
  bool whole = false;         ///< its end ends everything in the container
};

/// The main function of a child process: runs the program on this process's 0, 1 and 2, sends the stop signal
/// to its process group for each SIGTERM, and returns how it ended. It waits up to 10 s for the starter.
///
/// With `whole`, nothing of the container is alive when it returns without `lost`. If this process ends
/// before, the program's process group (with `whole`: everything in the container) is killed, and the starter
/// takes no further request before a whole container's processes are reaped. SIGTERM stays blocked, and a
/// terminal stops being this process's own.
///
/// @return `wait_status` as of waitpid(2); `out_of_memory`: it failed, and the kernel killed processes of the
/// container for memory meanwhile; `failure`: why it could not be started; `lost`: the container ended, or
/// was ended by the kernel as a whole, and the program may have run.
[[nodiscard]] ContainerEnd RunInPod(const PodRun& run);

}  // namespace trainyard::replica
