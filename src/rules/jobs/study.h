#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rules/tuning/space.h"
#include "trainyard/control/v1/record.pb.h"

/// Converts a tuning job to the tuner's types. Pure: any thread.
namespace trainyard::jobs {

/// The coordinate of the value that the command line shows as `text`; nullopt: it is no single value.
[[nodiscard]] std::optional<double> CoordinateOf(const ml::v1::ParameterSpec& param, std::string_view text);

/// The search space and the search algorithm. The job must have passed Validate.
[[nodiscard]] tuning::StudySpec StudyOf(const control::v1::JobRecord& tuning);

/// The TrialCreated event of the next trial: its number, the point, the texts of active parameters' flags.
[[nodiscard]] control::v1::Event NextTrial(const control::v1::JobRecord& tuning, const tuning::Space& space,
                                           const tuning::Point& point);

/// A trial as the tuner sees it: pending while it has not ended; infeasible when it failed or if a metric has
/// no finite value; censored if it was stopped early. `report` is what it has reported so far.
///
/// @param with_curve  only early stopping needs the curve; thousands of curves take much memory
[[nodiscard]] tuning::Trial StudyTrial(const control::v1::JobRecord& trial,
                                       const replica::v1::MetricReport& report, bool with_curve);

/// Copies params, goal, metric tag, further metrics and algorithm from `previous` if `spec`, which resumes
/// it, does not set them: the continued study has one of each. Returns a sentence for the job's log; empty:
/// nothing was copied. Source: spec hyperparameter-tuning.md section 10; the example on Google's page resumes
/// a job with only the id and new numbers of trials.
[[nodiscard]] std::string InheritSpec(const control::v1::JobRecord& previous,
                                      ml::v1::HyperparameterSpec& spec);

/// Whether `tuning` may continue from the results of `previous`. kFailedPrecondition with the field and a
/// message: `previous` is not a tuning job, has not ended, or has other parameters, another goal, another tag
/// or other further metrics. Source: spec section 10.
[[nodiscard]] Status CheckResumable(const control::v1::JobRecord& tuning,
                                    const control::v1::JobRecord& previous);

}  // namespace trainyard::jobs
