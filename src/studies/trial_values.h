#pragma once

#include "base/result.h"
#include "trainyard/ml/v1/study.pb.h"
#include "tuning/study.h"

/// Trials of the API as the tuner sees them, and back. Pure: any thread.
namespace trainyard::studies {

/// Sets the trial's parameters: those that count at this point, in the order of the configuration. kInternal:
/// the point is none of the space.
[[nodiscard]] Status SetParameters(const tuning::Space& space, const tuning::Point& point,
                                   ml::v1::Trial& trial);

/// The point of a trial that a user made. kInvalidArgument with field "trial.parameters[0]...": a name that
/// is unknown or there twice, a value of another type or out of bounds, a parameter that does not count with
/// the values of its parent; with field "trial.parameters": one that is missing.
[[nodiscard]] Result<tuning::Point> PointOf(const tuning::Space& space, const ml::v1::Trial& trial);

/// A measurement's value of each of the study's metrics; NaN: not reported.
[[nodiscard]] std::vector<double> ValuesOf(const tuning::StudySpec& spec,
                                           const ml::v1::Measurement& measurement);

/// The trial for the tuner. Without a finite value of each metric at its end it counts as infeasible. Errors
/// as PointOf.
///
/// @param stopped  it was told to stop before it ended: its values are not what they would have become.
[[nodiscard]] Result<tuning::Trial> ToTuning(const tuning::StudySpec& spec, const ml::v1::Trial& trial,
                                             int id, bool stopped);

}  // namespace trainyard::studies
