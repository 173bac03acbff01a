#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/async/unique_fd.h"
#include "base/result.h"

/// Who builds a folder, among machines that share it: flock(2) of a file that comes over a network may be
/// each machine's own. docs/adr/0056-agents.md.
namespace trainyard::environment {

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

}  // namespace trainyard::environment
