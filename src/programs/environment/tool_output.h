#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/unique_fd.h"
#include "base/process/run_tool.h"
#include "programs/environment/environment.h"

namespace trainyard::environment {

/// Takes the hundreds of lines that the tools of one build print. All of them go into a file next to the
/// directory that is built (Layout::Output), which keeps only the last build. The log gets warnings, a line
/// on the progress now and then, a summary, and the last lines of a tool that failed; the progress is
/// reported. One thread at a time.
class ToolOutput {
 public:
  static constexpr std::chrono::seconds kSayInterval{10};
  /// The file's limit. Later lines are dropped.
  static constexpr std::size_t kBytesMax = std::size_t{8} << 20;
  /// Lines of a tool that failed which are shown in the log.
  static constexpr std::size_t kTailLines = 20;
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  /// Empties the file; without one (a full disk) the log is all there is. `hooks` outlive it.
  /// @param what  Progress::what
  ToolOutput(const std::filesystem::path& folder, const PreparationHooks& hooks, std::string what,
             Now now = std::chrono::steady_clock::now);

  /// Begins a command that installs something: the line is for both. Other commands (venv) only leave their
  /// output in the file.
  void Begin(std::string_view command);
  [[nodiscard]] LineSink Out() {
    return [this](std::string_view line) { Take(line, false); };
  }
  [[nodiscard]] LineSink Err() {
    return [this](std::string_view line) { Take(line, true); };
  }
  /// The command has ended.
  void End(bool ok);

 private:
  struct Line {
    std::string text;
    bool is_error;
  };
  void Take(std::string_view line, bool is_error);
  void Write(std::string_view line);

  const PreparationHooks& hooks_;
  Now now_;
  UniqueFd file_;
  std::size_t bytes_left_ = kBytesMax;
  std::string what_;
  InstallProgress install_;
  std::optional<std::chrono::steady_clock::time_point> begin_;  ///< empty: the command installs nothing
  std::chrono::steady_clock::time_point said_;
  std::deque<Line> tail_;
};

}  // namespace trainyard::environment
