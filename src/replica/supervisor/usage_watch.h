#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "programs/attempt/attempt_dir.h"
#include "programs/runtimes/exit_rules.h"
#include "programs/sandbox/cgroups/cgroup.h"
#include "replica/supervisor/gpu_probe.h"
#include "replica/supervisor/server_link.h"
#include "replica/supervisor/usage.h"
#include "replica/supervisor/user_process.h"

namespace trainyard::replica {

/// What the program's process uses while it runs: measured after a second and then every ten, and sent to the
/// server if it is there. Also has the kernel count what it kills for memory. Driven by its owner's poll
/// loop; one thread. The destructor ends a look at GPUs.
class UsageWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// They outlive it.
  struct Around {
    UserProcess& process;
    const AttemptDir& dir;
    const v1::Manifest& manifest;
    ServerLink& link;
  };

  UsageWatch(Around around, Time now);

  /// Measures what is due. Call in every round.
  void Step(Time now);
  /// When Step has something to do without any event.
  [[nodiscard]] Time deadline() const noexcept;
  /// Of a look at the GPUs; -1: there is none. Readable: OnReadable().
  [[nodiscard]] int fd() const noexcept { return gpus_ ? gpus_->fd() : -1; }
  void OnReadable();

  /// What it knows of the memory and the number of processes of a program that has ended.
  void Tell(ObservedEnd& end) const;

 private:
  void CountMemory();
  void TellByEnclosingGroup(ObservedEnd& end) const;
  void Measure();
  void Send();

  Around around_;
  UsageMeter meter_;
  v1::FromReplica frame_;  ///< measured, but for the GPUs
  std::optional<GpuProbe> gpus_;
  bool counting_refused_ = false;  ///< this machine does not count the replica's own out-of-memory kills
  /// Counted in the group around this process: before the program, and at the last two measurements.
  /// Nothing where the program has a group of its own that counts.
  std::optional<std::int64_t> kills_before_;
  std::optional<std::int64_t> kills_once_;
  std::optional<std::int64_t> kills_lately_;
  Time count_at_ = Time::max();  ///< max: they are counted, or cannot be
  Time measure_at_;
};

}  // namespace trainyard::replica
