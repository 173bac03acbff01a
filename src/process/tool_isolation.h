#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// What a tool sees of the machine besides the system's programs. Absolute paths; what is not there is left
/// out.
struct ToolView {
  std::vector<std::string> read_only;  ///< files and folders
  std::vector<std::string> writable;   ///< folders
  std::vector<std::string> hidden;     ///< folders of which nothing is seen but what else is named here
  /// Two folders of this tool alone: the first becomes its /tmp, with its home in it, the second is needed to
  /// make the view.
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

/// Keeps the code of packages (setup.py, build backends, .pth files) from everything but its view. Made
/// above this folder, which knows only that there is one. Any thread.
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

  /// As whom tools run, if not as us: what they are to write must be this owner's.
  [[nodiscard]] virtual std::optional<Owner> owner() const = 0;
  /// Runs the tool to its end, with all that it started, and returns its wait status. Called in a process of
  /// its own that was forked for it, whose stdout and stderr become the tool's. What cannot be run is said on
  /// stderr; the status is then that of an exit.
  [[nodiscard]] virtual int Run(const IsolatedTool& tool) const = 0;
};

}  // namespace trainyard
