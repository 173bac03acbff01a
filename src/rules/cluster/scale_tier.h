#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "rules/cluster/machine_type.h"
#include "trainyard/ml/v1/ml.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::cluster {

/// One replica of a job and the machine that it asks for.
struct ReplicaPlan {
  replica::v1::TaskType type = replica::v1::MASTER;
  std::int32_t index = 0;  ///< from 0 within its type
  std::string machine_type;
  double vcpus = 0;
  std::int64_t memory_bytes = 0;
  Accelerators accelerators;  ///< attached, or part of the machine type
  friend bool operator==(const ReplicaPlan&, const ReplicaPlan&) = default;

  [[nodiscard]] replica::v1::ReplicaId id() const;
};

/// All replicas of one role; they are identical.
struct ReplicaGroup {
  replica::v1::TaskType type = replica::v1::MASTER;
  std::int64_t count = 0;                ///< at least 1
  const MachineType* machine = nullptr;  ///< static storage
  Accelerators accelerators;             ///< attached, or part of the machine type
};

/// The maximum number of replicas of a job. Google's limit is not known; this one catches typing errors.
inline constexpr std::int64_t kReplicasMax = 1000;

/// Expands the training input to its replicas: master, workers, parameter servers, evaluators, each in order
/// of index. The default scale tier is BASIC. With a tier other than CUSTOM a machine type has no effect
/// (gcloud's --scale-tier flag over a config file sends both), and a count is an error.
///
/// Errors, kInvalidArgument: field "master_type", "worker_type", ... for a missing or unknown machine type,
/// "worker_count", ... for a negative count, a count with a tier other than CUSTOM, a type without a count,
/// more than kReplicasMax in all. jobs::Validate checks which machines may be combined. Pure: any thread.
/// Source: spec cluster.md sections 1 to 3, data/cluster/scale_tiers.json.
[[nodiscard]] Result<std::vector<ReplicaPlan>> Expand(const ml::v1::TrainingInput& input);

/// Like Expand, grouped by role, for callers that do not need each replica.
[[nodiscard]] Result<std::vector<ReplicaGroup>> Groups(const ml::v1::TrainingInput& input);

/// Training units that the whole job consumes per hour. Source: spec cluster.md section 8.
[[nodiscard]] double UnitsPerHour(const std::vector<ReplicaPlan>& replicas);

}  // namespace trainyard::cluster
