#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/settings.h"
#include "engine/attempt_host.h"
#include "rules/jobs/decide.h"
#include "rules/jobs/prepare.h"
#include "rules/placement/gang.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::control {

/// The id of an attempt of the job's replica at that position: rules/cluster/task_name.h.
[[nodiscard]] std::string AttemptId(const v1::JobRecord& job, int replica, int attempt);

/// Position of the replica in the record; -1 if the job has no such replica. `task_name`: "worker-replica-0".
[[nodiscard]] int FindReplica(const v1::JobRecord& job, std::string_view task_name);

/// The attempt's id and its node: that of the replica's slot.
[[nodiscard]] engine::AttemptRef AttemptRefOf(const v1::JobRecord& job, int replica, int attempt);

/// The gang of a job, in an engine's form.
[[nodiscard]] placement::Gang GangOf(const v1::JobRecord& job);

/// "cmle-training-worker-0123456789-1"; "cmle-training-workerpool1-0123456789-1" with the variables of Vertex
/// AI.
[[nodiscard]] std::string HostNameOf(const v1::JobRecord& job, int replica);

/// Limit on threads and processes of one replica: far above what trainers use, below what would bring down a
/// machine.
inline constexpr int kReplicaPidsMax = 16'384;

/// The arguments after the user's: a trial's flags, then "--job-dir" and the directory of the job (or trial),
/// if it has one. Source: spec environment.md section 6, hyperparameter-tuning.md section 4.
[[nodiscard]] std::vector<std::string> ServiceArgs(const v1::JobRecord& job);

/// The job's part of the manifest for the supervisor of a replica's attempt; the attempt host adds the
/// node's. Depends only on its arguments: after a restart it is the same.
[[nodiscard]] replica::v1::Manifest MakeManifest(const Settings& settings, const v1::JobRecord& job,
                                                 int replica, int attempt);

/// Adds the values of the job's secrets, which are not in its record. kNotFound: one of them is missing.
[[nodiscard]] Status AddSecrets(const jobs::Secrets& values, replica::v1::Manifest& manifest);

/// The addresses of the whole gang, for the barrier: as each replica reported it; for one that has ended and
/// cannot report it any more, the address of its slot.
[[nodiscard]] replica::v1::Cluster MakeCluster(const v1::JobRecord& job, const jobs::Observation& seen);

/// Proves only that a supervisor's connection belongs to the attempt: a MAC with a separate key.
[[nodiscard]] std::string AttemptToken(const Settings& settings, const std::string& attempt_id);
/// Takes the same time wherever the token is wrong.
[[nodiscard]] bool IsAttemptToken(const Settings& settings, const std::string& attempt_id,
                                  std::string_view token);

}  // namespace trainyard::control
