#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainyard::cli {

/// One process of `local train`; it gets this process's environment and a few more variables.
struct LocalProcess {
  std::string name;  ///< "worker 0", for messages
  std::vector<std::string> argv;
  std::string directory;
  std::map<std::string, std::string> variables;
};

/// Runs all processes on this terminal until the last one of the list (the primary) has ended. Then stops the
/// others and all their descendants, detached ones included: with SIGTERM, and with SIGKILL if they still run
/// a few seconds later. SIGINT, SIGTERM and SIGHUP stop all processes in the same way; a second signal kills
/// them immediately. If this process is killed, its children are killed, too.
///
/// @param remark  called with a sentence for the user when another process has failed by itself
/// @return the primary's exit status: 128+N if signal N killed it or stopped the run. Errors: kNotFound and
///         others of execve(2); then no process keeps running.
/// Must be the only thread.
[[nodiscard]] Result<int> RunLocalProcesses(const std::vector<LocalProcess>& processes,
                                            const std::function<void(std::string_view)>& remark);

}  // namespace trainyard::cli
