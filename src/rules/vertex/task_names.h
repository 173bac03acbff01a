#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainyard/replica/v1/replica.pb.h"

/// Names of replicas in Vertex AI: by the position of their pool. Pure: any thread. Source: spec vertex.md
/// sections 3 and 8.
namespace trainyard::vertex {

/// 0 for the master, 1 for workers, 2 for parameter servers, 3 for evaluators; nullopt for other types.
[[nodiscard]] std::optional<int> PoolOf(replica::v1::TaskType type);

/// "workerpool1-0" for "worker-replica-0"; any other text ("service") is returned unchanged.
[[nodiscard]] std::string PoolTaskName(std::string_view task_name);

/// Inverse of PoolTaskName: "worker-replica-0" for "workerpool1-0"; other text unchanged.
[[nodiscard]] std::string TaskNameOf(std::string_view pool_task_name);

}  // namespace trainyard::vertex
