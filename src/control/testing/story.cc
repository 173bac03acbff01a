#include "control/testing/story.h"

namespace trainyard::control {

void Story::Tell(const std::string& what) {
  const auto ms = (time_.TrueNow().time_since_epoch().count() / 1'000'000) % 10'000'000;
  listener_(std::to_string(ms) + " ms: " + what);
}

void Story::Violate(std::string what) {
  if (violations_.empty()) Say("VIOLATION: ", what);
  violations_.push_back(std::move(what));
}

}  // namespace trainyard::control
