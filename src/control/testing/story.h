#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "control/testing/simulated_time.h"

namespace trainyard::control {

/// The story has one line for each event of a schedule, in the words of docs/lifecycle.md, and one sentence
/// for each promise that the schedule broke.
class Story {
 public:
  using Listener = std::function<void(const std::string& line)>;
  /// @param listener  gets each line when it happens; null: nobody listens, and no line is made
  Story(const SimulatedTime& time, Listener listener) : time_(time), listener_(std::move(listener)) {}

  template <class... Parts>
  void Say(const Parts&... parts) {
    if (listener_) Tell((std::string() + ... + parts));
  }
  void Violate(std::string what);
  [[nodiscard]] const std::vector<std::string>& violations() const noexcept { return violations_; }

 private:
  void Tell(const std::string& what);

  const SimulatedTime& time_;
  Listener listener_;
  std::vector<std::string> violations_;
};

}  // namespace trainyard::control
