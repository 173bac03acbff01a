#pragma once

#include <map>
#include <string>

#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::cluster {

/// The GPUs whose device files a program can open.
enum class Sight { kAll, kOwn };

/// The variables that say which accelerators a replica's program uses. Pure: any thread.
///
/// GPUs: CUDA_VISIBLE_DEVICES in the order of /gpu:0 to /gpu:n-1, CUDA_DEVICE_ORDER=PCI_BUS_ID (so that CUDA
/// and the server use the same indexes), NVIDIA_VISIBLE_DEVICES (for container runtimes). For a replica
/// without GPUs CUDA_VISIBLE_DEVICES is empty rather than -1 (both hide all; programs that test the
/// variable's text take an empty one as "no GPU"), and NVIDIA_VISIBLE_DEVICES is "void".
///
/// TPU: TPU_CONFIG and, for Python packages, KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS with the node's name. Both are
/// absent without a TPU. Source: spec environment.md sections 4 and 7. If the TPU has device files, it is the
/// machine's own, and TPU_NAME=local takes the place of the second variable. Source: TensorFlow's
/// tpu/client/client.py. A Python package whose TPU's place the CPU takes gets both with the name "local",
/// and TRAINYARD_TPU_AS_CPU=1 for the environment's sitecustomize.py.
[[nodiscard]] std::map<std::string, std::string> DeviceVariables(const replica::v1::Manifest& manifest,
                                                                 Sight sight);

/// The value of CUDA_VISIBLE_DEVICES. An index counts the GPUs that CUDA can open, and only those; so where
/// the replica's own are all that it can open, they are 0 to n-1. A UUID is the same everywhere.
[[nodiscard]] std::string VisibleGpus(const replica::v1::Devices& devices, Sight sight);

}  // namespace trainyard::cluster
