#pragma once

#include "trainyard/algorithms/v1/algorithm.pb.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// Makes the record of a new job one that runs the algorithm: sets what the API shows of it
/// (jobs::SetAlgorithm), a remark that says what runs instead of the image, and a note if its machines have
/// more GPUs than the algorithm uses, or a TPU, which it does not use. Pure: any thread.
void UseAlgorithm(const algorithms::v1::Algorithm& algorithm, v1::JobRecord& record);

}  // namespace trainyard::control
