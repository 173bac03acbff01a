#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Who may start, who waits, and why. Pure: a snapshot in, a plan out; any thread.
namespace trainyard::placement {

/// Replicas per CPU of a shared machine.
inline constexpr int kReplicasPerCpuMax = 4;

/// What this machine has for jobs.
struct Capacity {
  enum class Mode {
    kShare,   ///< replicas share the machine: at most kReplicasPerCpuMax per CPU, but one gang always fits an
              ///< idle machine
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
    replica::v1::TaskType type = replica::v1::MASTER;  ///< only for the field of CheckFits' error
    friend bool operator==(const Replica&, const Replica&) = default;
  };
  std::int64_t uid = 0;
  std::string job_id;
  int priority = 0;
  SysTime create_time;
  std::vector<Replica> replicas;
};

/// Where a gang waits and what for.
struct Wait {
  std::int64_t position = 0;  ///< 1 for the next one: jobPosition
  std::string reason;         ///< one sentence: what it waits for and what would free it
  friend bool operator==(const Wait&, const Wait&) = default;
};

struct Plan {
  using Wait = placement::Wait;

  struct Admission {
    std::int64_t uid = 0;
    std::vector<std::string>
        notes;  ///< what was asked and what is given, for the job's log; empty if it is the same
    friend bool operator==(const Admission&, const Admission&) = default;
  };
  std::vector<Admission> admitted;  ///< in order: the front of the queue
  std::string shortage;             ///< what the first of the others waits for; empty if all are admitted
};

/// Gangs are admitted whole and in order; one that does not fit holds back all those behind it, so that a big
/// gang is not starved by small ones. A shared machine admits any gang when nothing else runs. The result
/// does not depend on the order of `running` but for the names in the shortage.
///
/// @param waiting  the queue, first to last (Queue::InOrder); only its admitted part and the next are looked
/// at.
[[nodiscard]] Plan PlanAdmissions(const Capacity& capacity, const std::vector<Gang>& running,
                                  std::span<const Gang* const> waiting);

/// kFailedPrecondition (field as in the request: master_type, worker_count, ...) for a gang that can never
/// fit (kStrict only).
[[nodiscard]] Status CheckFits(const Capacity& capacity, const Gang& gang);

/// The port range that leases come from: below Linux's ephemeral ports (32768).
inline constexpr int kLeasePortFirst = 20000;
inline constexpr int kLeasePortLast = 32767;

/// The loopback address of a job's replica: 127.1.0.1 to 127.255.255.254. Different for every replica of a
/// job, and for jobs whose uids are not a multiple of 16,320 apart (their leased ports are different all the
/// same). `replica` is below 1022.
[[nodiscard]] std::string ReplicaAddress(std::int64_t job_uid, int replica);

}  // namespace trainyard::placement
