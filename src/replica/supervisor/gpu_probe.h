#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
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

}  // namespace trainyard::replica
