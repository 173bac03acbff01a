#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/process/variables.h"
#include "base/result.h"

namespace trainyard {

/// What a tool sees of the machine in addition to the system's programs. Absolute paths; those that do not
/// exist are left out.
struct ToolView {
  std::vector<std::string> read_only;  ///< files and folders
  std::vector<std::string> writable;   ///< folders
  std::vector<std::string> hidden;     ///< folders that are empty except for paths listed here
  /// Two folders for this tool alone: the first becomes its /tmp and contains its home; the view is built in
  /// the second.
  std::string tmp;
  std::string root;
};

/// A program that runs code of packages.
struct IsolatedTool {
  std::vector<std::string> argv;       ///< argv[0] is an absolute path
  std::vector<std::string> variables;  ///< NAME=value: all variables except those about its home
  ToolView view;
  int lock = -1;  ///< held until everything that the tool started has ended; the tool does not get it
};

/// Isolates the code of packages (setup.py, build backends, .pth files) from everything except its view.
/// Implemented in a higher layer (sandbox). Any thread.
class ToolIsolation {
 public:
  struct Owner {
    uid_t uid;
    gid_t gid;
  };

  ToolIsolation() = default;
  ToolIsolation(const ToolIsolation&) = delete;
  ToolIsolation& operator=(const ToolIsolation&) = delete;
  virtual ~ToolIsolation() = default;

  /// The account that tools run as, if it is not ours: files that they write to must belong to it.
  [[nodiscard]] virtual std::optional<Owner> owner() const = 0;
  /// Runs the tool until it and all its descendants have ended, and returns its wait status. Called in a
  /// process that was forked for it, whose stdout and stderr become the tool's. If the tool cannot be run,
  /// this is reported on stderr and the status is that of an exit.
  [[nodiscard]] virtual int Run(const IsolatedTool& tool) const = 0;
};

/// A program to run to its end.
struct ToolCommand {
  std::vector<std::string> argv;  ///< argv[0] is an absolute path
  /// Changes to this process's variables; nullopt removes one.
  VariableChanges variables;
  int inherited = -1;              ///< a descriptor that the program gets too, under the same number
  int input = -1;                  ///< its stdin; -1: /dev/null
  int output = -1;                 ///< its stdout is written there unchanged, not as lines; -1: lines
  bool has_all_variables = false;  ///< it gets only `variables`, none of this process's
  /// Not null: isolates it, with this view. `inherited` is then only kept open for it, and its stdin is
  /// /dev/null.
  const ToolIsolation* isolation = nullptr;
  ToolView view{};
};

/// How it ended, with the last lines that it printed.
struct ToolEnd {
  int exit_code = 0;  ///< 0 if it ended by a signal
  int signal = 0;
  std::vector<std::string> tail;  ///< of stdout and stderr in the order of arrival, at most kToolTailMax
  [[nodiscard]] bool ok() const noexcept { return exit_code == 0 && signal == 0; }
};

inline constexpr std::size_t kToolTailMax = 200;

using LineSink = std::function<void(std::string_view line)>;

/// Runs the program in a new process group, passes each line of its output to `out` or `err`, and returns
/// when it has ended and closed its output. It dies with the calling thread (PR_SET_PDEATHSIG). `stop` kills
/// the group. Errors: kCancelled after a stop, kDeadlineExceeded if it printed nothing for two hours,
/// kNotFound and others if it cannot be started. Blocks; any thread.
[[nodiscard]] Result<ToolEnd> RunTool(const ToolCommand& command, const LineSink& out, const LineSink& err,
                                      const std::stop_token& stop);

}  // namespace trainyard
