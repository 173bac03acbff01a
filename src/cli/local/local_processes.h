#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainyard::cli {

/// One process of `local train`: this process's environment with a few variables more.
struct LocalProcess {
  std::string name;  ///< "worker 0", for remarks
  std::vector<std::string> argv;
  std::string directory;
  std::map<std::string, std::string> variables;
};

/// Runs them all, sharing this terminal, until the last one of the list (the primary) has ended; then stops
/// the others, and whatever any of them has started, also what has cut itself loose: SIGTERM, and SIGKILL for
/// what still runs a few seconds later. SIGINT, SIGTERM and SIGHUP end it all in the same way, a second one
/// at once. If this process is killed, its children die with it.
///
/// @param remark  a sentence for the user: another process ended by itself with a failure
/// Returns the primary's exit status: 128+N if signal N killed it or ended it all. Errors: kNotFound and
/// others of execve(2), before anything runs on. Must be the only thread.
[[nodiscard]] Result<int> RunLocalProcesses(const std::vector<LocalProcess>& processes,
                                            const std::function<void(std::string_view)>& remark);

}  // namespace trainyard::cli
