#pragma once

#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::jobs {

/// The job as it is stored: what only the server may set is cleared (state, times, errorMessage, jobPosition,
/// etag, outputs), state is QUEUED, trainingOutput is there (`trainingOutput: {}`) and says what kind of job
/// it is. The training input stays as the user wrote it: values that are absent keep their documented meaning
/// (scale tier BASIC, maxRunningTime 7 days) without being shown. Pure: any thread.
[[nodiscard]] ml::v1::Job WithDefaults(ml::v1::Job job);

}  // namespace trainyard::jobs
