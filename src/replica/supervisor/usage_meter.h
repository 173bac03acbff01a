#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "programs/sandbox/cgroups/cgroup.h"
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

}  // namespace trainyard::replica
