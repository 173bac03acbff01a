#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/text/number.h"
#include "trainyard/ml/v1/ml.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::placement {

/// One job that runs or waits to run.
struct Gang {
  struct Replica {
    std::string machine_type;
    double cpus = 0;
    std::int64_t memory_bytes = 0;
    replica::v1::TaskType type = replica::v1::MASTER;  ///< only for the field of CheckFits' error
    ml::v1::AcceleratorConfig::Type accelerator = ml::v1::AcceleratorConfig::ACCELERATOR_TYPE_UNSPECIFIED;
    std::int64_t accelerator_count = 0;  ///< GPUs, or TPU cores; 0: none
    /// The image that it runs, pinned by its digest; empty: it runs Python packages.
    std::string image{};
    friend bool operator==(const Replica&, const Replica&) = default;
  };
  std::int64_t uid = 0;
  std::string project{};
  std::string creator{};  ///< the principal that created the job; empty: authentication is off
  std::string job_id;
  std::string region{};  ///< the job's region: where it wants to run
  bool any_gpu = false;  ///< the type of its GPUs means nothing, and is not shown
  int priority = 0;
  SysTime create_time;
  std::vector<Replica> replicas;
  std::optional<std::chrono::seconds> running_limit{};  ///< nullopt: none
  std::optional<SysTime> queue_deadline{};  ///< it must have its resources before; nullopt: no limit
  std::optional<SysTime> start_time{};      ///< when it got its resources; nullopt: it has none yet
  double share = 1;                         ///< its share of the machine (ProjectUses::ShareOf)
  int line = 0;  ///< gangs of one line wait for each other; positions count within the line (queue.h)
};

using text::Counted;

}  // namespace trainyard::placement
