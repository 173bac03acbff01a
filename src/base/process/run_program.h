#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/process/child_process.h"
#include "base/result.h"

namespace trainyard {

/// How a program ended, and what it printed.
struct RunResult {
  ExitStatus status;
  std::string output;      ///< stdout and stderr, interleaved as written
  bool truncated = false;  ///< the output was longer than allowed; the rest was read and discarded
};

/// Finds an executable file in PATH. Returns an absolute path; empty if there is none. Relative directories
/// in PATH are ignored: the result must not depend on the working directory.
[[nodiscard]] std::string FindProgram(std::string_view name);

/// Our own code in a forked child, which answers with a text. The process that starts it has one thread: then
/// the child can use the heap. One thread.
class AskedChild {
 public:
  [[nodiscard]] static Result<AskedChild> Start(const std::function<std::string()>& answer);
  /// Waits for the answer; empty if the child was killed. Call it once: until then the child is not reaped.
  [[nodiscard]] std::string Take() &&;

 private:
  AskedChild(UniqueFd answer, pid_t pid) : answer_(std::move(answer)), pid_(pid) {}

  UniqueFd answer_;
  pid_t pid_;
};
/// Starts such a child and waits for its answer.
[[nodiscard]] Result<std::string> AnswerOfChild(const std::function<std::string()>& answer);

/// Runs a program to its end with stdin from /dev/null and collects its output. Blocks: call it on a pool's
/// or a command's thread. kDeadlineExceeded: it ran longer than `wait_max` and was killed with its process
/// group. `options.descriptors` and `options.group` are set by this function.
[[nodiscard]] Result<RunResult> RunProgram(SpawnOptions options, std::size_t output_bytes_max,
                                           std::chrono::milliseconds wait_max);

}  // namespace trainyard
