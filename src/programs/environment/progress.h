#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard::environment {

/// The progress of a long step of a preparation.
struct Progress {
  std::string what;        ///< "Installing packages", without a full stop
  std::int64_t done = 0;   ///< counted in `unit`
  std::int64_t total = 0;  ///< 0: not known
  std::string unit;        ///< "bytes", "packages"
  friend bool operator==(const Progress&, const Progress&) = default;
};

/// Called for each change; any thread, one call at a time. May be empty.
using SayProgress = std::function<void(const Progress& progress)>;

/// Determines the progress of uv or pip from its output. Pure: one thread at a time. Source: the output of uv
/// 0.8 and pip 26 into a pipe.
class InstallProgress {
 public:
  explicit InstallProgress(std::string what) : progress_{.what = std::move(what), .unit = "packages"} {}

  /// Call it with each line of the tool; empty: no progress.
  [[nodiscard]] std::optional<Progress> TakeLine(std::string_view line);

  /// "12 of 45 packages, 340 MB downloaded"; empty if nothing was installed or downloaded yet.
  [[nodiscard]] std::string Text() const;

 private:
  Progress progress_;
  std::int64_t bytes_ = 0;  ///< downloaded, as the tool rounds it
};

}  // namespace trainyard::environment
