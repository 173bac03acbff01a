#include "rules/cluster/device_variables.h"

#include "base/text/json_string.h"
#include "rules/cluster/region.h"

namespace trainyard::cluster {

std::map<std::string, std::string> DeviceVariables(const replica::v1::Manifest& manifest) {
  const replica::v1::Devices& devices = manifest.devices();
  std::string gpus;
  for (const std::string& gpu : devices.gpus()) gpus += (gpus.empty() ? "" : ",") + gpu;
  std::map<std::string, std::string> variables = {
      {"CUDA_VISIBLE_DEVICES", gpus},
      {"NVIDIA_VISIBLE_DEVICES", gpus.empty() ? "void" : gpus},
  };
  if (!gpus.empty()) variables["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  if (const std::string& node = devices.tpu_node_name(); !node.empty()) {
    variables["TPU_CONFIG"] = "{\"project\": " + text::QuoteJson(manifest.project()) +
                              ", \"zone\": " + text::QuoteJson(ZoneOf(manifest.region())) +
                              ", \"tpu_node_name\": " + text::QuoteJson(node) + "}";
    if (!manifest.program().python_module().empty()) variables["KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"] = node;
  }
  return variables;
}

}  // namespace trainyard::cluster
