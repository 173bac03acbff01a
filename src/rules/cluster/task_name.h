#pragma once

#include <string>
#include <string_view>

#include "trainyard/replica/v1/replica.pb.h"

/// The names of replicas in logs, messages, TF_CONFIG and on the network. Pure: any thread.
namespace trainyard::cluster {

using replica::v1::ReplicaId;

/// "worker-replica-0": the task name in logs and web access URIs. The master is "master-replica-0" even if
/// TF_CONFIG calls it chief; "evaluator-replica-0" is inferred. Source: spec lifecycle.md section 7.
[[nodiscard]] std::string TaskName(const ReplicaId& replica);

/// "worker 0": the replica's name in errorMessage. Source: spec lifecycle.md section 4.
[[nodiscard]] std::string ReplicaLabel(const ReplicaId& replica);

/// The key in TF_CONFIG's cluster and task.type: "chief" or "master", "worker", "ps", "evaluator".
/// Source: spec environment.md section 1.
[[nodiscard]] std::string_view TaskType(replica::v1::TaskType type, bool use_chief);

/// "cmle-training-worker-0123456789-1". `cluster_hash` is ten hex digits, one per job. Source: spec
/// environment.md section 1 (in the public example the chief's host has such a name, too).
[[nodiscard]] std::string HostName(const ReplicaId& replica, std::string_view cluster_hash, bool use_chief);

}  // namespace trainyard::cluster
