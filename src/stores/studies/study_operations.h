#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "rules/tuning/space.h"
#include "stores/studies/study_store.h"
#include "trainyard/longrunning/operations.pb.h"
#include "trainyard/ml/v1/study.pb.h"

/// The operations of studies, step by step: begun (durable, before it is answered), read (the input of the
/// computation), finished (its result and its end are stored in one transaction). In between the trials may
/// change: a result computed from older ones is still valid. Blocking: on the thread of the store.
namespace trainyard::studies {

/// kNotFound; kInvalidArgument with field "client_id" or "suggestion_count"; kResourceExhausted: the study is
/// COMPLETED, and the client has no unfinished trial. Source: discovery, "suggest"; clients take 429 to mean
/// the end of the search (tensorflow_cloud, vizier_client.py).
[[nodiscard]] Result<StoredOperation> BeginSuggest(StudyStore& store, const StudyName& name,
                                                   const ml::v1::SuggestTrialsRequest& asked, SysTime now);

/// kNotFound; kFailedPrecondition: the trial is COMPLETED.
[[nodiscard]] Result<StoredOperation> BeginCheckStopping(StudyStore& store, const TrialName& name,
                                                         SysTime now);

/// What the computing thread has already: see StudyWork.
struct TunerState {
  std::int64_t deletions = -1;  ///< -1: nothing
  std::int64_t revision = 0;
};

struct OperationTask {
  StoredOperation operation;
  StoredStudy study;
  bool anew = false;  ///< start without earlier trials
  StudyStore::Changes changes;
  int needed = 0;        ///< kSuggest: new points to compute; 0: existing trials suffice
  bool judging = false;  ///< kCheckStopping: false: the answer is known
};
/// Absent: the operation is done, or can no longer be done, which is then recorded.
[[nodiscard]] Result<std::optional<OperationTask>> ReadOperation(StudyStore& store, std::int64_t id,
                                                                 std::int64_t study_uid, TunerState known);

/// Gives the client its ACTIVE trials, then REQUESTED ones, then new ones made from these points.
///
/// @param last  the search space has no further point: the study becomes COMPLETED.
/// @return false: trials of the client ended in the meantime, and there are too few points: read and compute
/// again.
[[nodiscard]] Result<bool> FinishSuggest(StudyStore& store, std::int64_t id,
                                         const std::vector<tuning::Point>& points, bool last, SysTime started,
                                         SysTime now);

/// A trial that should stop becomes STOPPING.
[[nodiscard]] Status FinishCheckStopping(StudyStore& store, std::int64_t id, bool should_stop,
                                         SysTime started, SysTime now);

/// Records the error of an unfinished operation.
[[nodiscard]] Status FailOperation(StudyStore& store, std::int64_t id, const Error& error);

/// kNotFound with field "name".
[[nodiscard]] Result<longrunning::Operation> GetOperation(StudyStore& store, const OperationName& name);

/// An unfinished operation ends with the error CANCELLED and has no result. A finished one does not change.
/// kNotFound with field "name".
[[nodiscard]] Status CancelOperation(StudyStore& store, const OperationName& name);

}  // namespace trainyard::studies
