#include "control/testing/story.h"

namespace trainyard::control {

void Story::AddLine(std::string line) {
  const auto ms = (time_.Now().time_since_epoch().count() / 1'000'000) % 10'000'000;
  lines_.push_back(std::to_string(ms) + " ms: " + std::move(line));
}

void Story::Violate(std::string what) {
  if (violations_.empty()) Say("VIOLATION: ", what);
  violations_.push_back(std::move(what));
}

}  // namespace trainyard::control
