#pragma once

#include "base/result.h"
#include "rules/tuning/space.h"
#include "trainyard/ml/v1/study.pb.h"

/// Converts trials between the API's form and the tuner's. Pure: any thread.
namespace trainyard::studies {

/// Sets the trial's parameters: those active at this point, in the order of the configuration. kInternal: the
/// point is not in the search space.
[[nodiscard]] Status SetParameters(const tuning::Space& space, const tuning::Point& point,
                                   ml::v1::Trial& trial);

/// The point of a trial that a user added. kInvalidArgument with field "trial.parameters[0]...": an unknown
/// or repeated name, a value of another type or out of bounds, a parameter that is not active with its
/// parent's value; with field "trial.parameters": a missing parameter.
[[nodiscard]] Result<tuning::Point> PointOf(const tuning::Space& space, const ml::v1::Trial& trial);

/// The values of the study's metrics in a measurement; NaN: not reported.
[[nodiscard]] std::vector<double> ValuesOf(const tuning::StudySpec& spec,
                                           const ml::v1::Measurement& measurement);

/// The trial in the tuner's form. Without a finite value of each metric at its end it counts as infeasible.
/// Errors as PointOf.
///
/// @param stopped  it was told to stop before it ended, so its values are not final.
[[nodiscard]] Result<tuning::Trial> ToTuning(const tuning::StudySpec& spec, const ml::v1::Trial& trial,
                                             int id, bool stopped);

}  // namespace trainyard::studies
