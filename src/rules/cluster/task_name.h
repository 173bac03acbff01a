#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainyard/replica/v1/replica.pb.h"

/// The names of replicas and attempts in logs, messages, TF_CONFIG and on the network. Pure: any thread.
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

/// The role's name in Vertex AI's CLUSTER_SPEC: "workerpool0" for the master, "workerpool1" for workers,
/// "workerpool2" for parameter servers, "workerpool3" for evaluators. Source: spec vertex.md section 4.
[[nodiscard]] std::string_view PoolName(replica::v1::TaskType type);

/// "cmle-training-worker-0123456789-1". `cluster_hash` is ten hex digits, one per job. Source: spec
/// environment.md section 1 (in the public example the chief's host has such a name, too).
[[nodiscard]] std::string HostName(const ReplicaId& replica, std::string_view cluster_hash, bool use_chief);

/// "cmle-training-workerpool1-0123456789-1": the name with the variables of Vertex AI. Source: spec vertex.md
/// section 4.
[[nodiscard]] std::string PoolHostName(const ReplicaId& replica, std::string_view cluster_hash);

/// The parts of an attempt's id.
struct AttemptName {
  std::int64_t job_uid = 0;
  std::string task_name;  ///< "worker-replica-0"
  int attempt = 0;
  friend bool operator==(const AttemptName&, const AttemptName&) = default;
};

/// "JOBUID-TASKNAME-ATTEMPT": names the attempt's directory, its log source and its connection.
[[nodiscard]] std::string AttemptId(std::int64_t job_uid, const replica::v1::ReplicaId& replica, int attempt);

/// Inverse of AttemptId; nullopt for any other text.
[[nodiscard]] std::optional<AttemptName> ParseAttemptId(std::string_view text);

}  // namespace trainyard::cluster
