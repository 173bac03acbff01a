#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "rules/placement/device_pool.h"
#include "rules/placement/gang.h"
#include "rules/placement/quota_gate.h"
#include "rules/placement/wait.h"

/// Decides which gangs may start, which wait, and why. Pure: takes a snapshot and returns a plan; any thread.
namespace trainyard::placement {

/// Replicas per CPU of a shared machine.
inline constexpr int kReplicasPerCpuMax = 4;

/// What this machine offers to jobs.
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

/// What is left of a machine's memory for its system and the server, when one replica uses all that it may:
/// an eighth, within these bounds.
inline constexpr std::int64_t kReserveBytesMin = std::int64_t{512} << 20;
inline constexpr std::int64_t kReserveBytesMax = std::int64_t{4} << 30;
/// The most memory that a replica may use whose machine type does not limit it. 0: no limit, since the
/// machine's memory is unknown or hardly more than the reserve.
[[nodiscard]] std::int64_t ReplicaMemoryMax(std::int64_t machine_bytes);

struct Plan {
  struct Admission {
    std::int64_t uid = 0;
    std::vector<std::string> notes;  ///< requested and granted resources, for the job's log; empty if equal
    DevicePool::Gift devices;
    friend bool operator==(const Admission&, const Admission&) = default;
  };
  struct Blocked {
    std::int64_t uid = 0;
    Shortage shortage;
    bool blocks_all = false;  ///< it waits for CPUs or memory: no later gang is admitted
    friend bool operator==(const Blocked&, const Blocked&) = default;
  };
  std::vector<Admission> admitted;  ///< in the queue's order
  std::vector<Blocked> blocked;     ///< gangs that block later ones, and what they wait for
};

/// Admits gangs as a whole and in order. A gang that waits for CPUs or memory blocks all later gangs, so that
/// small gangs do not starve a big one. A gang that waits for accelerators blocks later gangs that could get
/// the same ones (priority orders jobs that want the same accelerator: spec api.md 4.2). A gang that can
/// never get its accelerators (DevicePool::LackOf) does not block the queue. A gang that is held back by a
/// quota blocks later gangs that use the same quota, so that a big one gets its turn; one that requests more
/// than the quota does not block others. A shared machine admits any gang when nothing else runs. The order
/// of `running` affects only the names in shortages.
///
/// @param waiting  the queue, first to last (Queue::InOrder).
[[nodiscard]] Plan PlanAdmissions(const Capacity& capacity, const std::vector<Gang>& running,
                                  std::span<const Gang* const> waiting, DevicePool devices = {});

/// The next waiting gang; null: there is none.
using NextGang = std::function<const Gang*()>;
struct PlanRules {
  QuotaGate quotas{};  ///< including what `running` uses of them
  Naming naming{};     ///< in shortages
};
/// PlanAdmissions with quotas, for a queue that is read on demand: only the beginning of a long one is read.
[[nodiscard]] Plan PlanAdmissions(const Capacity& capacity, const std::vector<Gang>& running,
                                  const NextGang& next, DevicePool devices, PlanRules rules);

/// kFailedPrecondition (field as in the request: master_type, worker_count, ...) for a gang whose machines
/// can never fit (kStrict only). Accelerators: DevicePool::LackOf.
[[nodiscard]] Status CheckFits(const Capacity& capacity, const Gang& gang);

/// The range of leased ports, below Linux's ephemeral ports (32768).
inline constexpr int kLeasePortFirst = 20000;
inline constexpr int kLeasePortLast = 32767;

/// The loopback address of a job's replica: 127.1.0.1 to 127.255.255.254. Different for every replica of a
/// job, and for jobs whose uids do not differ by a multiple of 16,320 (even then their leased ports differ).
/// `replica` is below 1022.
[[nodiscard]] std::string ReplicaAddress(std::int64_t job_uid, int replica);

}  // namespace trainyard::placement
