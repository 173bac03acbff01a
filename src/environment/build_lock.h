#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>

#include "async/unique_fd.h"
#include "base/result.h"

namespace trainyard::environment {

/// The right to build one folder: flock(2) on a file beside it, so it ends when the process
/// does. Tools that write into the folder get the descriptor too: while one of them runs, no other build
/// begins.
class BuildLock {
 public:
  /// Waits for as long as another process builds, or until `stop`; calls `on_wait` once if it has to wait.
  /// Errors: kCancelled, and those of open(2).
  [[nodiscard]] static Result<BuildLock> Acquire(const std::filesystem::path& path,
                                                 const std::function<void()>& on_wait,
                                                 const std::stop_token& stop);

  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }

 private:
  explicit BuildLock(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace trainyard::environment
