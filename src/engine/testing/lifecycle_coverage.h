#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replica/supervisor/lifecycle.h"

namespace trainyard::engine {

/// "kRunning", "kStopAsked".
[[nodiscard]] std::string_view NameOf(replica::Lifecycle::State state);
[[nodiscard]] std::string_view NameOf(replica::AttemptEvent event);

/// How often the supervisors of simulations met each event in each state. Plain numbers, so that it may be in
/// memory that processes share.
struct LifecycleCoverage {
  static constexpr std::size_t kStates = 8;
  static constexpr std::size_t kEvents = 18;

  void Meet(replica::Lifecycle::State state, replica::AttemptEvent event);
  void Add(const LifecycleCoverage& other);

  std::array<std::array<std::uint64_t, kEvents>, kStates> met{};
};

/// A text for people: the arrows of the lifecycle's diagram that were never met, and how many there are.
[[nodiscard]] std::vector<std::string> PrintCoverage(const LifecycleCoverage& coverage);

}  // namespace trainyard::engine
