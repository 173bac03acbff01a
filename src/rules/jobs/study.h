#pragma once

#include <string>

#include "base/result.h"
#include "rules/tuning/study.h"
#include "trainyard/control/v1/record.pb.h"

/// A tuning job as the tuner sees it. Pure: any thread.
namespace trainyard::jobs {

/// The space that is searched, and how. The job passed Validate.
[[nodiscard]] tuning::StudySpec StudyOf(const control::v1::JobRecord& tuning);

/// The TrialCreated event of the next trial: its number, the texts of its flags, the point.
[[nodiscard]] control::v1::Event NextTrial(const control::v1::JobRecord& tuning, const tuning::Space& space,
                                           const tuning::Point& point);

/// A trial as the tuner sees it: pending while it has not ended; infeasible when it failed or has no finite
/// metric; censored if it was stopped early. `report` is what it has reported so far.
///
/// @param with_curve  only early stopping needs the curve; thousands of curves take much memory
[[nodiscard]] tuning::Trial StudyTrial(const control::v1::JobRecord& trial,
                                       const replica::v1::MetricReport& report, bool with_curve);

/// Fills in what `spec`, which resumes `previous`, leaves out of its params, goal, metric tag and algorithm:
/// the study that goes on has one of each. Returns a sentence for the job's log; empty: nothing was taken.
/// Source: spec hyperparameter-tuning.md section 10; the original's page resumes a job with the id and new
/// numbers of trials alone.
[[nodiscard]] std::string InheritSpec(const control::v1::JobRecord& previous,
                                      ml::v1::HyperparameterSpec& spec);

/// Whether `tuning` may continue from the results of `previous`. kFailedPrecondition with the field and a
/// message: `previous` is no tuning job, has not ended, or has other parameters, another goal or another tag.
/// Source: spec section 10.
[[nodiscard]] Status CheckResumable(const control::v1::JobRecord& tuning,
                                    const control::v1::JobRecord& previous);

}  // namespace trainyard::jobs
