#pragma once

#include <optional>
#include <string>
#include <vector>

#include "programs/node/inventory.h"
#include "programs/node/nvml_events.h"
#include "rules/placement/device_health.h"

namespace trainyard::node {

/// Looks at this machine's accelerators again and again: which are there, and how they are. While there are
/// GPUs, it keeps NVML loaded between looks, which alone tells their errors (Xid). One thread at a time.
class DeviceLooks {
 public:
  explicit DeviceLooks(Places places = {}) : places_(std::move(places)) {}

  struct Look {
    std::vector<placement::DeviceSigns> devices;  ///< those that answer
    std::vector<std::string> notes;               ///< as Inventory::notes
  };
  /// Blocks, as FindDevices. GPUs that NVML has once listed do not answer while it fails.
  [[nodiscard]] Look Take();

 private:
  void Listen(const Inventory& found, std::vector<std::string>& notes);

  Places places_;
  std::optional<NvmlEvents> events_;
  std::vector<std::string> uuids_;    ///< of the last look's GPUs
  std::vector<std::string> bus_ids_;  ///< of the GPUs that the driver has
  bool some_fail_ = false;
  bool has_answered_ = false;  ///< NVML, ever
};

}  // namespace trainyard::node
