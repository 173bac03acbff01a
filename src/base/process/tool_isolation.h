#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// What a tool sees of the machine besides the system's programs. Absolute paths; those that do not exist are
/// left out.
struct ToolView {
  std::vector<std::string> read_only;  ///< files and folders
  std::vector<std::string> writable;   ///< folders
  std::vector<std::string> hidden;     ///< folders of which only what else is named here can be seen
  /// Two folders for this tool alone: the first becomes its /tmp, with its home in it; the view is made in
  /// the second.
  std::string tmp;
  std::string root;
};

/// A program that runs code of packages.
struct IsolatedTool {
  std::vector<std::string> argv;       ///< argv[0] is an absolute path
  std::vector<std::string> variables;  ///< NAME=value: all but those of its home
  ToolView view;
  int lock = -1;  ///< held until everything that the tool started has ended; the tool does not get it
};

/// Isolates the code of packages (setup.py, build backends, .pth files) from everything but its view. The
/// implementation is in a folder above (sandbox). Any thread.
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

  /// The account that tools run as, if it is not ours: what they are to write must belong to it.
  [[nodiscard]] virtual std::optional<Owner> owner() const = 0;
  /// Runs the tool to its end, with all that it started, and returns its wait status. Called in a process of
  /// its own that was forked for it, whose stdout and stderr become the tool's. What cannot be run is
  /// reported on stderr; the status is then that of an exit.
  [[nodiscard]] virtual int Run(const IsolatedTool& tool) const = 0;
};

}  // namespace trainyard
