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

/// One look at a replica's GPUs, by a short-lived process of its own: NVIDIA's library takes memory, and
/// seconds where the driver sleeps; a supervisor can afford neither. One thread. The destructor kills the
/// process.
class GpuProbe {
 public:
  /// `gpus`: as CUDA_VISIBLE_DEVICES lists them. kResourceExhausted: no process can be started.
  [[nodiscard]] static Result<GpuProbe> Start(const std::vector<std::string>& gpus);
  GpuProbe(GpuProbe&&) noexcept;
  GpuProbe& operator=(GpuProbe&&) = delete;
  ~GpuProbe();

  /// Readable: Read().
  [[nodiscard]] int fd() const noexcept { return pipe_.get(); }
  /// The figures (in `gpus` alone; none where NVML does not answer) once the look is done.
  [[nodiscard]] std::optional<v1::Usage> Read();

 private:
  GpuProbe(pid_t pid, UniqueFd pipe) : pid_(pid), pipe_(std::move(pipe)) {}

  pid_t pid_;
  UniqueFd pipe_;
  std::string bytes_;
  bool answered_ = false;
};

/// Where NVIDIA's library is: TRAINYARD_NVML, or its usual name.
[[nodiscard]] std::string NvmlLibrary();

/// What is to be measured. The cgroup may be none; then the supervisor's descendants are looked for.
struct MeasuredProcess {
  const Cgroup& cgroup;
  pid_t init = -1;           ///< of the sandbox: what it waited for counts
  bool own_network = false;  ///< it has a network namespace of its own
  std::int64_t memory_limit_bytes = 0;
};

/// Measures what an attempt uses, a few small files of /proc at a time. CPU time, bytes of disks and memory's
/// peak never go back, although processes end. Does not measure GPUs. One thread.
class UsageMeter {
 public:
  UsageMeter();

  /// A sample without time.
  [[nodiscard]] v1::Usage Measure(const MeasuredProcess& source);
  /// The most memory that any sample or the cgroup saw; 0: nothing was seen.
  [[nodiscard]] std::int64_t PeakMemory(const Cgroup& cgroup) const;

 private:
  double cpus_;
  double cpu_seconds_ = 0;
  std::int64_t disk_read_bytes_ = 0;
  std::int64_t disk_written_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
};

/// The process behind a pidfd; -1 once it is gone.
[[nodiscard]] pid_t PidOf(int pidfd);

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
