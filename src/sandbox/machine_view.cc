#include "sandbox/machine_view.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "node/inventory.h"

namespace trainyard::replica {

int CpuCount() {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? std::max(1, CPU_COUNT(&cpus)) : 1;
}

std::vector<std::string> ForbiddenDevices(const v1::Devices& own) {
  const auto is_file = [](std::string_view file) { return file.starts_with("/dev/nvidia"); };
  const bool has_gpu_files = std::ranges::any_of(own.device_files(), is_file);
  const bool has_tpu_files = std::ranges::any_of(own.device_files(), std::not_fn(is_file));
  std::vector<std::string> forbidden;
  for (const std::string& file : node::AcceleratorFiles()) {
    const bool is_gpu = is_file(file);
    const bool declared =
        is_gpu ? !own.gpus().empty() && !has_gpu_files : !own.tpu_node_name().empty() && !has_tpu_files;
    if (!declared && std::ranges::find(own.device_files(), file) == own.device_files().end())
      forbidden.push_back(file);
  }
  return forbidden;
}

}  // namespace trainyard::replica
