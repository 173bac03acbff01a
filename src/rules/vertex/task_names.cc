#include "rules/vertex/task_names.h"

#include <array>
#include <utility>

namespace trainyard::vertex {
namespace {

struct PoolName {
  std::string_view role;  ///< "worker-replica-"
  std::string_view pool;  ///< "workerpool1-"
};

constexpr std::array<PoolName, 4> kNames = {{{"master-replica-", "workerpool0-"},
                                             {"worker-replica-", "workerpool1-"},
                                             {"ps-replica-", "workerpool2-"},
                                             {"evaluator-replica-", "workerpool3-"}}};

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// `text` with `from` at its start replaced by `to`, if a number follows.
std::optional<std::string> Renamed(std::string_view text, std::string_view from, std::string_view to) {
  if (!text.starts_with(from) || !IsNumber(text.substr(from.size()))) return std::nullopt;
  return std::string(to).append(text.substr(from.size()));
}

}  // namespace

std::optional<int> PoolOf(replica::v1::TaskType type) {
  switch (type) {
    case replica::v1::MASTER: return 0;
    case replica::v1::WORKER: return 1;
    case replica::v1::PARAMETER_SERVER: return 2;
    case replica::v1::EVALUATOR: return 3;
    default: return std::nullopt;
  }
}

std::string PoolTaskName(std::string_view task_name) {
  for (const PoolName& name : kNames)
    if (auto renamed = Renamed(task_name, name.role, name.pool)) return *std::move(renamed);
  return std::string(task_name);
}

std::string TaskNameOf(std::string_view pool_task_name) {
  for (const PoolName& name : kNames)
    if (auto renamed = Renamed(pool_task_name, name.pool, name.role)) return *std::move(renamed);
  return std::string(pool_task_name);
}

}  // namespace trainyard::vertex
