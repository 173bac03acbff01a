#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "base/result.h"

namespace trainyard::environment {

// Who builds a folder, among machines that share it: flock(2) of a file that comes over a network may be
// each machine's own. docs/adr/0056-agents.md.

struct ClaimLimits {
  std::chrono::milliseconds beat{20'000};          ///< between two signs of life
  std::chrono::milliseconds silence_max{180'000};  ///< then its machine is dead, or stands still
  std::chrono::milliseconds look{500};             ///< between two looks at somebody else's
};

/// A file that appears at once (O_EXCL), and whose time of change moves for as long as its builder lives. The
/// destructor removes it, unless somebody has taken it over. One thread.
class BuildClaim {
 public:
  /// Nothing: somebody has it. Errors: those of open(2) and write(2).
  [[nodiscard]] static Result<std::unique_ptr<BuildClaim>> Try(const std::filesystem::path& path,
                                                               const std::string& machine,
                                                               const ClaimLimits& limits);
  BuildClaim(const BuildClaim&) = delete;
  BuildClaim& operator=(const BuildClaim&) = delete;
  ~BuildClaim();

  [[nodiscard]] bool IsOurs() const;

 private:
  BuildClaim(std::filesystem::path path, std::string words, UniqueFd file, std::chrono::milliseconds beat);

  std::filesystem::path path_;
  std::string words_;  ///< in the file: no other claim has the same
  UniqueFd file_;
  std::jthread beats_;  ///< last: it uses the file
};

/// Looks at somebody else's claim, and removes it once its builder must be dead. For whoever has the flock(2)
/// that its builder would have, if it were of this machine. One thread.
class ClaimWatch {
 public:
  ClaimWatch(std::filesystem::path path, std::string machine, ClaimLimits limits)
      : path_(std::move(path)), machine_(std::move(machine)), limits_(limits) {}

  /// @return whether it is gone.
  [[nodiscard]] bool RemoveIfDead();

 private:
  struct Sight {
    std::string words;
    std::chrono::nanoseconds changed{};
    friend bool operator==(const Sight&, const Sight&) = default;
  };
  [[nodiscard]] std::optional<Sight> Look() const;
  [[nodiscard]] bool Remove(const std::string& words) const;

  std::filesystem::path path_;
  std::string machine_;
  ClaimLimits limits_;
  std::optional<Sight> seen_;
  std::chrono::steady_clock::time_point since_;  ///< of the same sight
};

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
