#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/settings.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::control {

/// Where every replica with a network of its own listens, as in the original. No leased port: an endpoint
/// with it is in an isolated network, whatever network the server of today gives to new jobs.
inline constexpr int kIsolatedPort = 2222;

/// "JOBUID-TASKNAME-ATTEMPT": names the attempt's folder, its log source and its connection.
[[nodiscard]] std::string AttemptId(const v1::JobRecord& job, int replica, int attempt);

/// An attempt's id, taken apart.
struct AttemptName {
  std::int64_t job_uid = 0;
  std::string task_name;  ///< "worker-replica-0"
  int attempt = 0;
  friend bool operator==(const AttemptName&, const AttemptName&) = default;
};
/// Nothing for a text that AttemptId does not make.
[[nodiscard]] std::optional<AttemptName> ParseAttemptId(std::string_view text);

/// The manifest of an attempt whose job is not known any more: as much as the engine needs to inspect and
/// remove it.
[[nodiscard]] replica::v1::Manifest BareManifest(const Settings& settings, const std::string& attempt_id);

/// Threads and processes of one replica: far above what trainers use, below what takes a machine down.
inline constexpr int kReplicaPidsMax = 16'384;

/// What follows the user's arguments: a trial's flags, then "--job-dir" and the job's (or the trial's) place,
/// if it has one. Source: spec environment.md section 6, hyperparameter-tuning.md section 4.
[[nodiscard]] std::vector<std::string> ServiceArgs(const v1::JobRecord& job);

/// What the supervisor of a replica's attempt is told. A function of its arguments: made again after a
/// restart it is the same.
[[nodiscard]] replica::v1::Manifest MakeManifest(const Settings& settings, const v1::JobRecord& job,
                                                 int replica, int attempt);

/// The whole gang, for the barrier. The endpoints are those leased at admission.
[[nodiscard]] replica::v1::Cluster MakeCluster(const v1::JobRecord& job);

/// Proves that a supervisor's connection is the attempt's, and nothing else: a MAC with a key of its own.
[[nodiscard]] std::string AttemptToken(const Settings& settings, const std::string& attempt_id);
/// Takes the same time wherever the token is wrong.
[[nodiscard]] bool IsAttemptToken(const Settings& settings, const std::string& attempt_id,
                                  std::string_view token);

}  // namespace trainyard::control
