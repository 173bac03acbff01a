#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "programs/attempt/attempt_dir.h"
#include "programs/runtimes/exit_rules.h"
#include "programs/sandbox/cgroups/cgroup.h"
#include "replica/supervisor/server_link.h"
#include "replica/supervisor/usage_meter.h"
#include "replica/supervisor/user_process.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// The id of a pidfd's process; -1 once it is gone.
[[nodiscard]] pid_t PidOf(int pidfd);

/// Measures the resource use of the program's process: after a second and then every ten, and sends it to the
/// server if connected. Also makes the kernel count what it kills for lack of memory. Driven by its owner's
/// poll loop; one thread. The destructor ends a GPU sample under way.
class UsageWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// All of them outlive it.
  struct Context {
    UserProcess& process;
    const AttemptDir& dir;
    const v1::Manifest& manifest;
    ServerLink& link;
  };

  UsageWatch(Context context, Time now);

  /// Takes measurements that are due. Call in every round.
  void Step(Time now);
  /// The time at which Step must be called even without an event.
  [[nodiscard]] Time deadline() const noexcept;
  /// The descriptor of a GPU sample under way; -1: there is none. When readable, call OnReadable().
  [[nodiscard]] int fd() const noexcept { return gpus_ ? gpus_->fd() : -1; }
  void OnReadable();

  /// Adds what it knows about memory and the number of processes of an ended program.
  void Tell(ObservedEnd& end) const;

 private:
  void CountMemory();
  void TellByEnclosingGroup(ObservedEnd& end) const;
  void Measure();
  void Send();

  Context context_;
  UsageMeter meter_;
  v1::FromReplica frame_;  ///< complete except for the GPUs
  std::optional<GpuProbe> gpus_;
  bool counting_refused_ = false;  ///< this machine does not count the replica's own out-of-memory kills
  /// The memory of the group that encloses this process: before the program, and at the last two
  /// measurements. Absent if the program has a group with its own count.
  std::optional<EnclosingMemory> before_;
  std::optional<EnclosingMemory> once_;
  std::optional<EnclosingMemory> lately_;
  Time count_at_ = Time::max();  ///< max: counting has begun, or is impossible
  Time measure_at_;
  bool released_ = false;  ///< the pages that only a start needs
};

}  // namespace trainyard::replica
