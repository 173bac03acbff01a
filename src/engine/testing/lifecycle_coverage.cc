#include "engine/testing/lifecycle_coverage.h"

#include <algorithm>

namespace trainyard::engine {

using replica::AttemptEvent;
using replica::Lifecycle;

namespace {

constexpr std::array<std::string_view, LifecycleCoverage::kStates> kStateNames = {
    "kPreparing", "kReady", "kRunning", "kStopping", "kDraining", "kRecording", "kEnded", "kDone"};
constexpr std::array<std::string_view, LifecycleCoverage::kEvents> kEventNames = {
    "kPrepared",    "kFailed",        "kShort",          "kClusterKnown", "kLaunched",   "kStopAsked",
    "kKillAsked",   "kShutdownAsked", "kDeadlinePassed", "kProcessEnded", "kOutputSeen", "kOutputOver",
    "kLinesStored", "kRecorded",      "kContainerLeft",  "kDiskRefused",  "kDismissed",  "kAbandoned"};

/// Whether the diagram has an arrow for the event in that state.
bool IsArrow(Lifecycle::State state, AttemptEvent event) {
  Lifecycle from;
  from.state = state;
  from.shutting_down = true;  // which every kShutdownAsked sets
  const replica::AttemptTransition transition = replica::Next(from, event, Lifecycle::Time());
  return !(transition.next == from) || !transition.actions.empty();
}

}  // namespace

std::string_view NameOf(Lifecycle::State state) { return kStateNames.at(static_cast<std::size_t>(state)); }
std::string_view NameOf(AttemptEvent event) { return kEventNames.at(static_cast<std::size_t>(event)); }

void LifecycleCoverage::Meet(Lifecycle::State state, AttemptEvent event) {
  ++met.at(static_cast<std::size_t>(state)).at(static_cast<std::size_t>(event));
}

void LifecycleCoverage::Add(const LifecycleCoverage& other) {
  for (std::size_t state = 0; state < kStates; ++state) {
    for (std::size_t event = 0; event < kEvents; ++event) met[state][event] += other.met[state][event];
  }
}

std::vector<std::string> PrintCoverage(const LifecycleCoverage& coverage) {
  std::vector<std::string> lines;
  std::size_t arrows = 0;
  for (std::size_t state = 0; state < LifecycleCoverage::kStates; ++state) {
    for (std::size_t event = 0; event < LifecycleCoverage::kEvents; ++event) {
      if (!IsArrow(static_cast<Lifecycle::State>(state), static_cast<AttemptEvent>(event))) continue;
      ++arrows;
      if (coverage.met[state][event] == 0)
        lines.push_back("never met: " + std::string(kStateNames[state]) + " " +
                        std::string(kEventNames[event]));
    }
  }
  const std::size_t missing = lines.size();
  lines.push_back("coverage: " + std::to_string(arrows - missing) + " of " + std::to_string(arrows) +
                  " arrows of a supervisor's lifecycle");
  return lines;
}

}  // namespace trainyard::engine
