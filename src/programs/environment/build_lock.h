#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "base/result.h"
#include "programs/environment/build_claim.h"

namespace trainyard::environment {

/// The right to build one folder. On this machine: flock(2) on a file beside it, so it ends when the process
/// does. Tools that write into the folder get the descriptor too: while one of them runs, no other build
/// begins. Among machines that share the folder: a claim beside that file.
class BuildLock {
 public:
  /// Waits for as long as somebody else builds, or until `stop`; calls `on_wait` once if it has to wait.
  /// Errors: kCancelled, and those of open(2).
  [[nodiscard]] static Result<BuildLock> Acquire(const std::filesystem::path& path,
                                                 const std::function<void()>& on_wait,
                                                 const std::stop_token& stop,
                                                 const std::string& machine = BootId(),
                                                 const ClaimLimits& limits = {});
  /// Does not wait. kCancelled: somebody builds, or another machine did until it died a moment ago.
  [[nodiscard]] static Result<BuildLock> Try(const std::filesystem::path& path,
                                             const std::string& machine = BootId());

  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
  /// Before what was built is declared complete. kUnavailable: this machine stood still for so long that
  /// another one took it for dead, and builds the folder.
  [[nodiscard]] Status Confirm() const;

 private:
  BuildLock(UniqueFd file, std::unique_ptr<BuildClaim> claim)
      : file_(std::move(file)), claim_(std::move(claim)) {}
  UniqueFd file_;
  std::unique_ptr<BuildClaim> claim_;  ///< ends before the flock(2)
};

}  // namespace trainyard::environment
