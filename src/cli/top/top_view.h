#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/gcloud/json_value.h"
#include "cli/gcloud/table.h"

/// What `top` shows of a UsageReport (control/v1/usage.proto). Pure: any thread.
namespace trainyard::cli {

struct TopView {
  std::string machine;       ///< one line: "CPUs 6 of 16, memory 22 of 64 GiB, GPUs 1 of 4 (nvidia-tesla-t4)"
  Rows running;              ///< jobs that hold room; only a heading if there are none
  Rows waiting;              ///< jobs that wait, in the order of the queue
  std::size_t left_out = 0;  ///< waiting jobs beyond `waiting_max`
  Rows projects;
};

/// `waiting_max`: rows of the queue.
[[nodiscard]] TopView MakeTopView(const Json& report, std::size_t waiting_max);

}  // namespace trainyard::cli
