#pragma once

#include <map>
#include <string>

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::cluster {

/// The variables that say which accelerators a replica's program uses. Pure: any thread.
///
/// GPUs: CUDA_VISIBLE_DEVICES in the order of /gpu:0 to /gpu:n-1, CUDA_DEVICE_ORDER=PCI_BUS_ID (so that CUDA
/// and the server use the same indexes), NVIDIA_VISIBLE_DEVICES (for container runtimes). For a replica
/// without GPUs CUDA_VISIBLE_DEVICES is empty rather than -1 (both hide all; programs that test the
/// variable's text take an empty one as "no GPU"), and NVIDIA_VISIBLE_DEVICES is "void".
///
/// TPU: TPU_CONFIG and, for Python packages, KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS with the node's name. Both are
/// absent without a TPU. Source: spec environment.md sections 4 and 7.
[[nodiscard]] std::map<std::string, std::string> DeviceVariables(const replica::v1::Manifest& manifest);

}  // namespace trainyard::cluster
