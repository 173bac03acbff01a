#pragma once

#include <string>
#include <vector>

#include "google/cloud/aiplatform/v1/aiplatform.pb.h"
#include "rules/vertex/findings.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::vertex {

/// Puts the worker pools of a custom job into the job's roles, by position: machines, disks, and what runs on
/// them. Mistakes are added to `findings`, and what has no effect here to `remarks`. Pure: any thread.
/// Source: spec vertex.md section 3.
void AddPools(const google::cloud::aiplatform::v1::CustomJobSpec& spec, ml::v1::TrainingInput& input,
              Findings& findings, std::vector<std::string>& remarks);

}  // namespace trainyard::vertex
