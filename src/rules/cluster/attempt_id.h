#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainyard/replica/v1/replica.pb.h"

/// The names of attempts. Pure: any thread.
namespace trainyard::cluster {

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
