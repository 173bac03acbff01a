#include "rules/cluster/device_variables.h"

#include "base/text/json_string.h"
#include "rules/cluster/region.h"

namespace trainyard::cluster {

std::string VisibleGpus(const replica::v1::Devices& devices, Sight sight) {
  std::string gpus;
  int next = 0;
  for (const std::string& gpu : devices.gpus()) {
    const bool is_index = gpu.find('-') == std::string::npos;
    gpus += (gpus.empty() ? "" : ",") + (is_index && sight == Sight::kOwn ? std::to_string(next++) : gpu);
  }
  return gpus;
}

namespace {

/// For a TPU whose chips are the machine's own: TensorFlow asks no service for an address, and libtpu asks no
/// metadata server, which takes it minutes where that does not know TPUs. Not tried on a TPU. Source:
/// tensorflow/python/tpu/client, and GKE's variables for containers with TPUs, as pytorch/xla and jax read
/// them.
std::map<std::string, std::string> OwnChips(int chips) {
  std::map<std::string, std::string> variables{{"TPU_NAME", "local"},
                                               {"TPU_SKIP_MDS_QUERY", "1"},
                                               {"TPU_WORKER_ID", "0"},
                                               {"TPU_WORKER_HOSTNAMES", "localhost"},
                                               {"TPU_HOST_BOUNDS", "1,1,1"}};
  const std::string bounds = chips == 1 ? "1,1,1" : chips == 4 ? "2,2,1" : chips == 8 ? "2,4,1" : "";
  if (!bounds.empty()) variables["TPU_CHIPS_PER_HOST_BOUNDS"] = bounds;
  return variables;
}

}  // namespace

std::map<std::string, std::string> DeviceVariables(const replica::v1::Manifest& manifest, Sight sight) {
  const replica::v1::Devices& devices = manifest.devices();
  const std::string gpus = VisibleGpus(devices, Sight::kAll);
  std::map<std::string, std::string> variables = {
      {"CUDA_VISIBLE_DEVICES", VisibleGpus(devices, sight)},
      {"NVIDIA_VISIBLE_DEVICES", gpus.empty() ? "void" : gpus},
  };
  if (!gpus.empty()) variables["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  const bool is_package = !manifest.program().python_module().empty();
  const bool cpu_for_tpu = is_package && devices.waiver() == replica::v1::Devices::CPU_FOR_TPU;
  if (cpu_for_tpu) variables["TRAINYARD_TPU_AS_CPU"] = "1";
  if (const std::string node = cpu_for_tpu ? "local" : devices.tpu_node_name(); !node.empty()) {
    variables["TPU_CONFIG"] = "{\"project\": " + text::QuoteJson(manifest.project()) +
                              ", \"zone\": " + text::QuoteJson(ZoneOf(manifest.region())) +
                              ", \"tpu_node_name\": " + text::QuoteJson(node) + "}";
    if (!devices.device_files().empty())
      variables.merge(OwnChips(devices.device_files_size()));
    else if (is_package)
      variables["KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"] = node;
  }
  return variables;
}

}  // namespace trainyard::cluster
