#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "base/result.h"
#include "trainyard/ml/v1/ml.pb.h"

/// Limits on the accelerators of a type that the unfinished jobs of one project may use together. Pure: any
/// thread.
namespace trainyard::jobs {

using AcceleratorCounts = std::map<ml::v1::AcceleratorConfig::Type, std::int64_t>;

/// "NVIDIA_TESLA_K80=2,TPU_V2=0". Types that are not listed have no limit. kInvalidArgument says what is
/// wrong.
[[nodiscard]] Result<AcceleratorCounts> ParseAcceleratorQuota(std::string_view text);

/// The accelerators of all replicas of a valid training input together.
[[nodiscard]] AcceleratorCounts AcceleratorsOf(const ml::v1::TrainingInput& input);

struct AcceleratorDemand {
  AcceleratorCounts held;   ///< used by the project's unfinished jobs
  AcceleratorCounts asked;  ///< requested by the new one
};

/// kResourceExhausted if the used and the requested accelerators together exceed the quota of a requested
/// type; `violations` has the project as subject (field). The message is worded like Google's; it mentions
/// the use of other jobs only if there is some. Source: spec api.md section 8.
[[nodiscard]] Status CheckAcceleratorQuota(const AcceleratorCounts& quota, std::string_view project,
                                           const AcceleratorDemand& demand);

}  // namespace trainyard::jobs
