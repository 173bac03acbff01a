#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard::environment {

/// How far a preparation has come with what takes long.
struct Progress {
  std::string what;        ///< "Installing packages": no full stop
  std::int64_t done = 0;   ///< in the unit
  std::int64_t total = 0;  ///< 0: not known
  std::string unit;        ///< "bytes", "packages"
  friend bool operator==(const Progress&, const Progress&) = default;
};

/// Called as often as there is something new; any thread, one call at a time. May be empty.
using SayProgress = std::function<void(const Progress& progress)>;

/// Reads how far uv or pip has come from what it writes. Pure: one thread at a time.
/// Source: the output of uv 0.8 and pip 26 into a pipe.
class InstallProgress {
 public:
  explicit InstallProgress(std::string what) : progress_{.what = std::move(what), .unit = "packages"} {}

  /// After a line of the tool; nothing: as far as before.
  [[nodiscard]] std::optional<Progress> TakeLine(std::string_view line);

 private:
  Progress progress_;
};

}  // namespace trainyard::environment
