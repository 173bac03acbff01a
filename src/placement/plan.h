#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Who may start, who waits, and why. Pure: a snapshot in, a plan out; any thread.
namespace trainyard::placement {

/// What this machine has for jobs.
struct Capacity {
  enum class Mode {
    kShare,   ///< replicas share the machine: at most kReplicasPerCpuMax per CPU, but one gang always fits an idle machine
    kStrict,  ///< every replica gets the CPUs and the memory of its machine type
  };
  Mode mode = Mode::kShare;
  int cpus = 1;
  std::int64_t memory_bytes = 0;
};

/// One job that runs or wants to.
struct Gang {
  struct Replica {
    std::string machine_type;
    double cpus = 0;
    std::int64_t memory_bytes = 0;
    friend bool operator==(const Replica&, const Replica&) = default;
  };
  std::int64_t uid = 0;
  std::string job_id;
  int priority = 0;
  SysTime create_time;
  std::vector<Replica> replicas;
};

struct Plan {
  struct Admission {
    std::int64_t uid = 0;
    std::vector<std::string> notes;  ///< what was asked and what is given, for the job's log; empty if it is the same
    friend bool operator==(const Admission&, const Admission&) = default;
  };
  struct Wait {
    std::int64_t position = 0;  ///< 1 for the next one: jobPosition
    std::string reason;         ///< one sentence: what it waits for and what would free it
    friend bool operator==(const Wait&, const Wait&) = default;
  };
  std::vector<Admission> admitted;        ///< in order
  std::map<std::int64_t, Wait> waiting;   ///< by uid
};

/// Gangs are admitted whole, by priority (high first), then age; one that does not fit holds back those behind it.
[[nodiscard]] Plan PlanAdmissions(const Capacity& capacity, const std::vector<Gang>& running, std::vector<Gang> waiting);

/// kFailedPrecondition (field as in the request: master_type, worker_count, ...) for a gang that can never fit (kStrict only).
[[nodiscard]] Status CheckFits(const Capacity& capacity, const Gang& gang);

/// The port range that leases come from: below Linux's ephemeral ports (32768).
inline constexpr int kLeasePortFirst = 20000;
inline constexpr int kLeasePortLast = 32767;

/// The loopback address of a job's replica: 127.X.Y.Z, different for every replica of every job that lives at once.
[[nodiscard]] std::string ReplicaAddress(std::int64_t job_uid, int replica);

}  // namespace trainyard::placement
