#pragma once

#include <cstdint>
#include <string>

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::metrics {

/// What one attempt of one replica used up to a moment.
struct Sample {
  std::int64_t job_uid = 0;
  std::string task_name;  ///< "worker-replica-0"
  int attempt = 0;
  replica::v1::Usage usage;
};

}  // namespace trainyard::metrics
