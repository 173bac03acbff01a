#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "rules/tuning/space.h"
#include "trainyard/ml/v1/study.pb.h"

/// The life of a trial:
///
///     REQUESTED --suggest--> ACTIVE --stop, early stopping--> STOPPING
///         \-----------------complete: each of them-----------> COMPLETED
///
/// Each rule takes a trial and a request, and changes the trial or returns why not. Pure: any
/// thread. Source: discovery, GoogleCloudMlV1__Trial and the methods of projects.locations.studies.trials.
namespace trainyard::studies {

inline constexpr int kMeasurementsMax = 10'000;  ///< of one trial

/// A trial that a user adds: REQUESTED, so that a client that asks for a suggestion gets it, unless the
/// request says ACTIVE (the user evaluates it) or includes its result (COMPLETED). kInvalidArgument with the
/// field: parameters as PointOf, measurements as AddMeasurement, COMPLETED without a result, another state.
[[nodiscard]] Result<ml::v1::Trial> MakeTrial(const tuning::StudySpec& spec, const ml::v1::Trial& asked,
                                              SysTime now);

/// Assigns a REQUESTED trial to a client.
void Assign(ml::v1::Trial& trial, const std::string& client_id, SysTime now);

/// Adds a measurement in the order of (steps, elapsed time), replacing one with the same. Without an elapsed
/// time it is the time since the trial's start. A REQUESTED trial becomes ACTIVE: a client evaluates it.
/// kFailedPrecondition: the trial is COMPLETED, or has kMeasurementsMax; kInvalidArgument with the field: no
/// metrics, a metric without name or value or given twice, a negative step count or time.
[[nodiscard]] Status AddMeasurement(ml::v1::Trial& trial, const ml::v1::AddTrialMeasurementRequest& asked,
                                    SysTime now);

/// Ends the trial: infeasible, with the given measurement, or with the last one that has each of the study's
/// metrics. kFailedPrecondition: it is COMPLETED, or there is no such measurement; kInvalidArgument with the
/// field: a final measurement without one of the study's metrics, a reason for a trial that is not
/// infeasible.
[[nodiscard]] Status Complete(const tuning::StudySpec& spec, ml::v1::Trial& trial,
                              const ml::v1::CompleteTrialRequest& asked, SysTime now);

/// kFailedPrecondition: it is COMPLETED. A trial that is STOPPING stays so.
[[nodiscard]] Status Stop(ml::v1::Trial& trial);

/// Indices, in order, of the trials that no other trial dominates (not worse in any metric and better in
/// one). With one metric: the first of the best. Only COMPLETED and feasible ones with finite values count.
[[nodiscard]] std::vector<std::size_t> OptimalTrials(const tuning::StudySpec& spec,
                                                     std::span<const ml::v1::Trial> trials);

}  // namespace trainyard::studies
