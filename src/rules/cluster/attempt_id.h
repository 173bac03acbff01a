#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainyard/replica/v1/replica.pb.h"

/// What attempts are called. Pure: any thread.
namespace trainyard::cluster {

/// An attempt's id, taken apart.
struct AttemptName {
  std::int64_t job_uid = 0;
  std::string task_name;  ///< "worker-replica-0"
  int attempt = 0;
  friend bool operator==(const AttemptName&, const AttemptName&) = default;
};

/// "JOBUID-TASKNAME-ATTEMPT": names the attempt's directory, its log source and its connection.
[[nodiscard]] std::string AttemptId(std::int64_t job_uid, const replica::v1::ReplicaId& replica, int attempt);

/// Nothing for a text that AttemptId does not make.
[[nodiscard]] std::optional<AttemptName> ParseAttemptId(std::string_view text);

}  // namespace trainyard::cluster
