#include "rules/cluster/task_name.h"

#include "base/check.h"

namespace trainyard::cluster {

std::string_view TaskType(replica::v1::TaskType type, bool use_chief) {
  switch (type) {
    case replica::v1::MASTER: return use_chief ? "chief" : "master";
    case replica::v1::WORKER: return "worker";
    case replica::v1::PARAMETER_SERVER: return "ps";
    case replica::v1::EVALUATOR: return "evaluator";
    default: break;  // proto3 enums are open
  }
  TY_CHECK(false && "a replica without a task type");
  return {};
}

std::string TaskName(const ReplicaId& replica) {
  return std::string(TaskType(replica.type(), false)) + "-replica-" + std::to_string(replica.index());
}

std::string ReplicaLabel(const ReplicaId& replica) {
  return std::string(TaskType(replica.type(), false)) + " " + std::to_string(replica.index());
}

std::string HostName(const ReplicaId& replica, std::string_view cluster_hash, bool use_chief) {
  std::string name = "cmle-training-";
  name += TaskType(replica.type(), use_chief);
  name += '-';
  name += cluster_hash;
  name += '-';
  name += std::to_string(replica.index());
  return name;
}

}  // namespace trainyard::cluster
