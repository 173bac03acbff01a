#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "google/cloud/aiplatform/v1/aiplatform.pb.h"
#include "rules/vertex/custom_job.h"
#include "trainyard/ml/v1/study.pb.h"

/// Studies of Vertex AI as studies of ml v1 and back. Pure: any thread. Source: spec vertex.md sections 6
/// and 9.
namespace trainyard::vertex {

/// The study of ml v1 for a request to create a study. Output fields of `asked` are ignored. Ranges, values
/// and names are for the rules of studies, whose errors InStudy translates. `default_value` and
/// `observation_noise` have no effect on this server.
///
/// @return kInvalidArgument with everything that is wrong, in the form that custom_job.h describes. Safety
///     metrics, a stopping config of the study, convex stopping and BEST_MEASUREMENT are rejected.
[[nodiscard]] Result<ml::v1::Study> MlStudyOf(const aip::Study& asked);

/// The study as methods answer it: as it was requested, with the state and the time of `now`.
///
/// @param name  "projects/P/locations/L/studies/N"
[[nodiscard]] aip::Study StudyOf(const aip::Study& asked, const ml::v1::Study& now, std::string name);

/// A study that describes one which was created by ml v1. Its display name is its id.
[[nodiscard]] aip::Study StudyOf(const ml::v1::Study& now, std::string name);

/// "study_spec.parameters[0].parameter_id" for "study_config.parameters[0].parameter"; likewise for the
/// fields of trials and measurements. Errors about a new trial have no "trial." before the field.
[[nodiscard]] std::string StudyField(std::string_view ml_field);

/// The error about a study, trial or measurement of ml v1 with the fields of Vertex AI. One of
/// kInvalidArgument becomes the list of found errors.
[[nodiscard]] Error InStudy(Error error);

}  // namespace trainyard::vertex
