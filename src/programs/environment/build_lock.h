#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "base/result.h"
#include "programs/environment/environment.h"

namespace trainyard::environment {

// Locks between machines that share a directory: flock(2) on a network file system may only be seen by one
// machine. docs/adr/0056-agents.md.

struct ClaimLimits {
  std::chrono::milliseconds beat{20'000};  ///< the interval between two signs of life
  std::chrono::milliseconds silence_max{
      180'000};  ///< after this long without one, the other machine is dead or suspended
  std::chrono::milliseconds look{500};  ///< the interval between two looks at another builder's claim
};

/// A file that is created atomically (O_EXCL), and whose modification time is updated for as long as its
/// builder lives. The destructor removes it, unless another builder has taken it over. One thread.
class BuildClaim {
 public:
  /// Null: another builder has it. Errors: those of open(2) and write(2).
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
  std::string words_;  ///< the file's text, which is unique to this claim
  UniqueFd file_;
  std::jthread beats_;  ///< last: it uses the file
};

/// Watches another builder's claim, and removes it once that builder must be dead. The caller must hold the
/// flock(2), so a builder on this machine cannot be alive. One thread.
class ClaimWatch {
 public:
  ClaimWatch(std::filesystem::path path, std::string machine, ClaimLimits limits)
      : path_(std::move(path)), machine_(std::move(machine)), limits_(limits) {}

  /// @return whether the claim is gone.
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
  std::chrono::steady_clock::time_point since_;  ///< since when it has looked the same
};

/// The right to build one directory. Between processes of this machine it is a flock(2) on a file next to the
/// directory, so it ends when the process does. Tools that write into the directory inherit the descriptor:
/// while one of them runs, no other build begins. Between machines that share the directory it is a claim
/// next to that file.
class BuildLock {
 public:
  /// Waits while another process builds, or until `stop`; calls `on_wait` once if it has to wait. Errors:
  /// kCancelled, and those of open(2).
  [[nodiscard]] static Result<BuildLock> Acquire(const std::filesystem::path& path,
                                                 const std::function<void()>& on_wait,
                                                 const std::stop_token& stop,
                                                 const std::string& machine = BootId(),
                                                 const ClaimLimits& limits = {});
  /// Does not wait. kCancelled: another process is building, or a builder on another machine has just died.
  [[nodiscard]] static Result<BuildLock> Try(const std::filesystem::path& path,
                                             const std::string& machine = BootId());

  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
  /// Call it before declaring the build complete. kUnavailable: this machine was suspended for so long that
  /// another one considered it dead and builds the directory now.
  [[nodiscard]] Status Confirm() const;

 private:
  BuildLock(UniqueFd file, std::unique_ptr<BuildClaim> claim)
      : file_(std::move(file)), claim_(std::move(claim)) {}
  UniqueFd file_;
  std::unique_ptr<BuildClaim> claim_;  ///< ends before the flock(2)
};

/// Marks a runtime version as used by programs for as long as this object lives, so that it is not removed.
/// It is a shared flock(2), so it ends when the process does. Any thread.
class RuntimeUse {
 public:
  /// Also records the time. Take it before looking for the environment. Errors: kNotFound for an unknown
  /// version, kUnavailable while it is being removed, and those of open(2).
  [[nodiscard]] static Result<RuntimeUse> Begin(const std::filesystem::path& environments_dir,
                                                std::string_view runtime_version);

 private:
  explicit RuntimeUse(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

/// The same as RuntimeUse for the layer of a job's packages. Any thread.
class LayerUse {
 public:
  /// The request must have packages. Also records the time. Take it after RuntimeUse and before looking for
  /// the environment; the layer need not be there yet. Errors: as RuntimeUse::Begin.
  [[nodiscard]] static Result<LayerUse> Begin(const EnvironmentRequest& request);

 private:
  explicit LayerUse(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace trainyard::environment
