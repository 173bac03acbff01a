#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/runtimes/exit_rules.h"
#include "programs/sandbox/cgroups/cgroup.h"
#include "replica/supervisor/server_link.h"
#include "replica/supervisor/user_process.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::replica {

/// Samples a replica's GPUs once, in a short-lived process: NVIDIA's library takes memory, and seconds if the
/// driver sleeps, which a supervisor cannot afford. One thread. The destructor kills the process.
class GpuProbe {
 public:
  /// `gpus`: in the form of CUDA_VISIBLE_DEVICES. kResourceExhausted: no process can be started.
  [[nodiscard]] static Result<GpuProbe> Start(const std::vector<std::string>& gpus);
  GpuProbe(GpuProbe&&) noexcept;
  GpuProbe& operator=(GpuProbe&&) = delete;
  ~GpuProbe();

  /// When readable, call Read().
  [[nodiscard]] int fd() const noexcept { return pipe_.get(); }
  /// The values once the process is done (only of `gpus`; none if NVML does not answer).
  [[nodiscard]] std::optional<v1::Usage> Read();

 private:
  GpuProbe(pid_t pid, UniqueFd pipe) : pid_(pid), pipe_(std::move(pipe)) {}

  pid_t pid_;
  UniqueFd pipe_;
  std::string bytes_;
  bool answered_ = false;
};

/// The path of NVIDIA's library: TRAINYARD_NVML, or its usual name.
[[nodiscard]] std::string NvmlLibrary();

/// What to measure. Without a cgroup the supervisor's descendants are measured.
struct MeasuredProcess {
  const Cgroup& cgroup;
  pid_t init = -1;           ///< the sandbox's init process: includes the processes that it waited for
  bool own_network = false;  ///< it has a separate network namespace
  std::int64_t memory_limit_bytes = 0;
};

/// Measures the resource use of an attempt by reading a few small files of /proc. CPU time, disk bytes and
/// peak memory never decrease, although processes end. Does not measure GPUs. One thread.
class UsageMeter {
 public:
  UsageMeter();

  /// A sample without a time.
  [[nodiscard]] v1::Usage Measure(const MeasuredProcess& source);
  /// The highest memory use in any sample or the cgroup; 0: none was seen.
  [[nodiscard]] std::int64_t PeakMemory(const Cgroup& cgroup) const;

 private:
  double cpus_;
  double cpu_seconds_ = 0;
  std::int64_t disk_read_bytes_ = 0;
  std::int64_t disk_written_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
};

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
  /// Out-of-memory kills in the group that encloses this process: before the program, and at the last two
  /// measurements. Absent if the program has a group with its own count.
  std::optional<std::int64_t> kills_before_;
  std::optional<std::int64_t> kills_once_;
  std::optional<std::int64_t> kills_lately_;
  Time count_at_ = Time::max();  ///< max: counting has begun, or is impossible
  Time measure_at_;
};

}  // namespace trainyard::replica
