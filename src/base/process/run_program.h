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

/// Runs our own code in a forked child, and returns the text that it returned there; empty if the child was
/// killed. Blocks. The calling process has one thread: then the child can use the heap.
[[nodiscard]] Result<std::string> AnswerOfChild(const std::function<std::string()>& answer);

/// Runs a program to its end with stdin from /dev/null and collects its output. Blocks: call it on a pool's
/// or a command's thread. kDeadlineExceeded: it ran longer than `wait_max` and was killed with its process
/// group. `options.descriptors` and `options.group` are set by this function.
[[nodiscard]] Result<RunResult> RunProgram(SpawnOptions options, std::size_t output_bytes_max,
                                           std::chrono::milliseconds wait_max);

}  // namespace trainyard
