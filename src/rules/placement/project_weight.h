#pragma once

#include <map>
#include <span>
#include <string>

#include "base/result.h"

namespace trainyard::placement {

/// The weight of a project in the queue: a larger one is served more often (queue.h). Default: 1.
using ProjectWeights = std::map<std::string, double>;

inline constexpr double kProjectWeightMin = 0.001;
inline constexpr double kProjectWeightMax = 1'000;

/// Each text is PROJECT=WEIGHT: "research=2". kInvalidArgument, field "--project-weight". Pure: any thread.
[[nodiscard]] Result<ProjectWeights> ParseProjectWeights(std::span<const std::string> texts);

}  // namespace trainyard::placement
