#pragma once

#include "trainyard/algorithms/v1/algorithm.pb.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// Makes a new job's record one that runs the algorithm: what the API shows of it (jobs::SetAlgorithm), a
/// remark that says what stands for the image, a note where its machines have more GPUs than it uses, or a
/// TPU, which it does without. Pure: any thread.
void UseAlgorithm(const algorithms::v1::Algorithm& algorithm, v1::JobRecord& record);

}  // namespace trainyard::control
