#pragma once

#include <string>
#include <utility>
#include <vector>

#include "control/testing/simulated_time.h"

namespace trainyard::control {

/// What happens in a schedule, one line for each event, in the words of docs/lifecycle.md; and which promises
/// it broke, one sentence each.
class Story {
 public:
  /// @param is_told  without it only the violations are kept
  Story(const SimulatedTime& time, bool is_told) : time_(time), is_told_(is_told) {}

  template <class... Parts>
  void Say(const Parts&... parts) {
    if (is_told_) AddLine((std::string() + ... + parts));
  }
  void Violate(std::string what);

  [[nodiscard]] const std::vector<std::string>& lines() const noexcept { return lines_; }
  [[nodiscard]] const std::vector<std::string>& violations() const noexcept { return violations_; }

 private:
  void AddLine(std::string line);

  const SimulatedTime& time_;
  bool is_told_;
  std::vector<std::string> lines_;
  std::vector<std::string> violations_;
};

}  // namespace trainyard::control
