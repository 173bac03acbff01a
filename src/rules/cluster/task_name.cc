#include "rules/cluster/task_name.h"

#include "base/check.h"
#include "base/number.h"

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

std::string_view PoolName(replica::v1::TaskType type) {
  switch (type) {
    case replica::v1::MASTER: return "workerpool0";
    case replica::v1::WORKER: return "workerpool1";
    case replica::v1::PARAMETER_SERVER: return "workerpool2";
    case replica::v1::EVALUATOR: return "workerpool3";
    default: break;  // proto3 enums are open
  }
  TY_CHECK(false && "a replica without a task type");
  return {};
}

namespace {

std::string NameOnNetwork(std::string_view type, std::string_view cluster_hash, int index) {
  std::string name = "cmle-training-";
  name += type;
  name += '-';
  name += cluster_hash;
  name += '-';
  name += std::to_string(index);
  return name;
}

}  // namespace

std::string HostName(const ReplicaId& replica, std::string_view cluster_hash, bool use_chief) {
  return NameOnNetwork(TaskType(replica.type(), use_chief), cluster_hash, replica.index());
}

std::string PoolHostName(const ReplicaId& replica, std::string_view cluster_hash) {
  return NameOnNetwork(PoolName(replica.type()), cluster_hash, replica.index());
}

namespace {

template <class Number>
bool ParsePositive(std::string_view text, Number& number) {
  number = WholeNumber<Number>(text).value_or(0);
  return number > 0;
}

}  // namespace

std::string AttemptId(std::int64_t job_uid, const replica::v1::ReplicaId& replica, int attempt) {
  return std::to_string(job_uid) + "-" + TaskName(replica) + "-" + std::to_string(attempt);
}

std::optional<AttemptName> ParseAttemptId(std::string_view text) {
  const std::size_t first = text.find('-');
  const std::size_t last = text.rfind('-');
  if (first == std::string_view::npos || last <= first + 1) return std::nullopt;
  AttemptName name{.task_name = std::string(text.substr(first + 1, last - first - 1))};
  if (!ParsePositive(text.substr(0, first), name.job_uid) ||
      !ParsePositive(text.substr(last + 1), name.attempt))
    return std::nullopt;
  return name;
}

}  // namespace trainyard::cluster
