#pragma once

#include <span>
#include <string>

#include "trainyard/algorithms/v1/algorithm.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::jobs {

/// The built-in algorithm whose image the master names; null: a program of the user's own, or an image that
/// the operator maps to another one (`mapped`: patterns, MatchesImage). It lives as long as the program.
/// Pure: any thread.
[[nodiscard]] const algorithms::v1::Algorithm* AlgorithmOf(const ml::v1::TrainingInput& input,
                                                           std::span<const std::string> mapped);

}  // namespace trainyard::jobs
