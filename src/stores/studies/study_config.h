#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "rules/tuning/space.h"
#include "trainyard/ml/v1/study.pb.h"

/// The configuration of a study's search. Pure: any thread. Source: discovery, GoogleCloudMlV1__StudyConfig.
namespace trainyard::studies {

inline constexpr int kStudyIdLengthMax = 128;
inline constexpr int kParametersMax = 1000;

/// kInvalidArgument with field "study_id": letters, digits, '_', '-' and '.', the first a letter or a digit.
[[nodiscard]] Status ValidateStudyId(std::string_view id);

/// kInvalidArgument with the field of the first error, "study_config.parameters[0].type".
[[nodiscard]] Status ValidateConfig(const ml::v1::StudyConfig& config);

/// Parents before their children. The configuration is valid.
[[nodiscard]] tuning::StudySpec SpecOf(const ml::v1::StudyConfig& config, std::uint64_t seed);

}  // namespace trainyard::studies
