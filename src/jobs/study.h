#pragma once

#include <string>

#include "base/result.h"
#include "trainyard/control/v1/record.pb.h"
#include "tuning/study.h"

/// A tuning job as the tuner sees it. Pure: any thread.
namespace trainyard::jobs {

/// What is searched, and how. The job passed Validate.
[[nodiscard]] tuning::StudySpec StudyOf(const control::v1::JobRecord& tuning);

/// The event of the next trial at this point: its number, the texts of its flags, the point.
[[nodiscard]] control::v1::Event NextTrial(const control::v1::JobRecord& tuning, const tuning::Space& space,
                                           const tuning::Point& point);

/// A trial as the tuner sees it: pending while it has not ended; infeasible when it failed or has no finite
/// metric; what was stopped before its end is censored. `report` is what it has reported so far.
///
/// @param with_curve  only who stops trials early needs it: thousands of curves are much
[[nodiscard]] tuning::Trial StudyTrial(const control::v1::JobRecord& trial,
                                       const replica::v1::MetricReport& report, bool with_curve);

/// Whether `tuning` may go on with what `previous` has found. kFailedPrecondition with the field and the
/// words: it is no tuning job, has not ended, or has other parameters, another goal or another tag. Source:
/// spec section 10.
[[nodiscard]] Status CheckResumable(const control::v1::JobRecord& tuning,
                                    const control::v1::JobRecord& previous);

}  // namespace trainyard::jobs
