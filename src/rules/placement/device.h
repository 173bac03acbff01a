#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainyard/ml/v1/ml.pb.h"

/// The accelerators of this machine, as placement sees them. Pure: any thread.
namespace trainyard::placement {

using ml::v1::AcceleratorConfig;

/// Cores of one TPU board (v2-8, v3-8); acceleratorConfig.count counts cores. Source: spec cluster.md section
/// 6.
inline constexpr int kTpuCoresPerBoard = 8;

/// A GPU, or a TPU board.
struct Device {
  enum class Kind { kGpu, kTpu };
  Kind kind = Kind::kGpu;
  std::string type;                ///< as in flags: "nvidia-tesla-t4", "tpu-v2"
  std::string id;                  ///< GPU: its name in CUDA_VISIBLE_DEVICES; TPU: the board's number
  std::vector<std::string> files;  ///< "/dev/nvidia0", first one that no other device has; none if declared
  friend bool operator==(const Device&, const Device&) = default;
};

/// "nvidia-tesla-t4" for NVIDIA_TESLA_T4: gcloud's own spelling.
[[nodiscard]] std::string AcceleratorName(AcceleratorConfig::Type type);
/// Parses the API's names; ACCELERATOR_TYPE_UNSPECIFIED for all others.
[[nodiscard]] AcceleratorConfig::Type ParseAcceleratorName(std::string_view name);

/// Parses the value of `--accelerators`: "nvidia-tesla-t4=4,tpu-v2=8", or "none". GPUs get the indexes 0 to
/// n-1 in the order of the text; a number of TPU cores is a multiple of 8. Any name of letters, digits and
/// '-' is a GPU, one that starts with "tpu-" a TPU. Errors: kInvalidArgument, field "--accelerators".
[[nodiscard]] Result<std::vector<Device>> ParseDeclaredDevices(std::string_view text);

/// "4 GPUs (nvidia-tesla-t4), 1 TPU (tpu-v2)"; "no accelerators".
[[nodiscard]] std::string DescribeDevices(std::span<const Device> devices);

/// Parses text of the form NAME=VALUE,NAME=VALUE. Errors: kInvalidArgument with `field`.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> ParseNameValues(
    std::string_view text, std::string_view field);

}  // namespace trainyard::placement
