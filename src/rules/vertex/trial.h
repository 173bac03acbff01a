#pragma once

#include <string>

#include "base/result.h"
#include "google/cloud/aiplatform/v1/aiplatform.pb.h"
#include "google/cloud/aiplatform/v1/vizier_service.pb.h"
#include "google/longrunning/operations.pb.h"
#include "rules/vertex/custom_job.h"
#include "trainyard/longrunning/operations.pb.h"
#include "trainyard/ml/v1/study.pb.h"

/// Trials of Vertex AI as trials of ml v1 and back, with their measurements and operations. Pure: any thread.
/// Source: spec vertex.md sections 2, 6 and 9.
namespace trainyard::vertex {

/// The trial for a request to create one. Names of parameters, ranges and what a new trial may contain are
/// for the rules of trials, whose errors InStudy translates.
///
/// @param config  of the trial's study: it decides whether a number is an integer
/// @return kInvalidArgument, in the form that custom_job.h describes: a value of another type than that of
///     its parameter, or a trial that is INFEASIBLE.
[[nodiscard]] Result<ml::v1::Trial> MlTrialOf(const aip::Trial& asked, const ml::v1::StudyConfig& config);

/// The trial as methods answer it. COMPLETED becomes SUCCEEDED, or INFEASIBLE.
///
/// @param study_name  "projects/P/locations/L/studies/N"
[[nodiscard]] aip::Trial TrialOf(const ml::v1::Trial& trial, const std::string& study_name);

/// Each metric has a value: one that the request leaves out is 0, as for each number of a message.
[[nodiscard]] ml::v1::AddTrialMeasurementRequest MlRequestOf(const aip::AddTrialMeasurementRequest& asked);
[[nodiscard]] ml::v1::CompleteTrialRequest MlRequestOf(const aip::CompleteTrialRequest& asked);
/// kInvalidArgument: the request has contexts.
[[nodiscard]] Result<ml::v1::SuggestTrialsRequest> MlRequestOf(const aip::SuggestTrialsRequest& asked);

/// The operation that suggests trials or checks one, with the metadata and the response of Vertex AI.
///
/// @param now  as ml v1 shows it
/// @param study_name  as in TrialOf
/// @param id  the operation's own
/// @return "STUDY/operations/ID" or "STUDY/trials/TRIAL/operations/ID". kDataLoss: it is of no known kind.
[[nodiscard]] Result<google::longrunning::Operation> OperationOf(const longrunning::Operation& now,
                                                                 const std::string& study_name,
                                                                 std::int64_t id);

}  // namespace trainyard::vertex
