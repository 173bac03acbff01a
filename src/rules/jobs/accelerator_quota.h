#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "base/result.h"
#include "trainyard/ml/v1/ml.pb.h"

/// How many accelerators of a type the unfinished jobs of one project may hold together. Pure: any thread.
namespace trainyard::jobs {

using AcceleratorCounts = std::map<ml::v1::AcceleratorConfig::Type, std::int64_t>;

/// "NVIDIA_TESLA_K80=2,TPU_V2=0". Types that are not named have no limit. kInvalidArgument says what is
/// wrong.
[[nodiscard]] Result<AcceleratorCounts> ParseAcceleratorQuota(std::string_view text);

/// What all replicas of a valid training input hold together.
[[nodiscard]] AcceleratorCounts AcceleratorsOf(const ml::v1::TrainingInput& input);

struct AcceleratorDemand {
  AcceleratorCounts held;   ///< by the project's unfinished jobs
  AcceleratorCounts asked;  ///< by the new one
};

/// kResourceExhausted if the held and the requested accelerators together exceed the quota of a requested
/// type; `violations` has the project as subject (field). In the original's words; the message says what
/// other jobs hold only if they hold some. Source: spec api.md section 8.
[[nodiscard]] Status CheckAcceleratorQuota(const AcceleratorCounts& quota, std::string_view project,
                                           const AcceleratorDemand& demand);

}  // namespace trainyard::jobs
