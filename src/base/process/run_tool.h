#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/process/tool_isolation.h"
#include "base/process/variables.h"
#include "base/result.h"

namespace trainyard {

/// A program to run to its end.
struct ToolCommand {
  std::vector<std::string> argv;  ///< argv[0] is an absolute path
  /// On top of this process's variables; nullopt removes one.
  VariableChanges variables;
  int inherited = -1;              ///< a descriptor that the program gets too, under the same number
  int input = -1;                  ///< its stdin; -1: /dev/null
  int output = -1;                 ///< its stdout, byte for byte, instead of lines; -1: lines
  bool has_all_variables = false;  ///< `variables` are all that it gets: nothing of this process's
  /// Not null: isolates it, with this view. `inherited` is then only held for it, and its stdin is /dev/null.
  const ToolIsolation* isolation = nullptr;
  ToolView view{};
};

/// How it ended, with the last lines that it printed.
struct ToolEnd {
  int exit_code = 0;  ///< 0 if it ended by a signal
  int signal = 0;
  std::vector<std::string> tail;  ///< of stdout and stderr as they came in, at most kToolTailMax
  [[nodiscard]] bool ok() const noexcept { return exit_code == 0 && signal == 0; }
};

inline constexpr std::size_t kToolTailMax = 200;

using LineSink = std::function<void(std::string_view line)>;

/// Runs the program in a process group of its own, passes its output on line by line, and returns when it has
/// ended and closed its output. It dies with the calling thread (PR_SET_PDEATHSIG). `stop` kills the group.
/// Errors: kCancelled after a stop, kDeadlineExceeded if it printed nothing for two hours, kNotFound and
/// others if it cannot be started. Blocks; any thread.
[[nodiscard]] Result<ToolEnd> RunTool(const ToolCommand& command, const LineSink& out, const LineSink& err,
                                      const std::stop_token& stop);

}  // namespace trainyard
