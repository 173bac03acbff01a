#pragma once

#include "placement/device_pool.h"
#include "placement/plan.h"
#include "server/serve_options.h"

/// What this machine has for jobs. Reads the machine; blocking.
namespace trainyard::server {

[[nodiscard]] placement::Capacity MachineCapacity(placement::Capacity::Mode mode);

/// The accelerators that are declared, else those that are found; says so in one line.
[[nodiscard]] placement::DevicePool MachineDevices(const ServeOptions& options);

}  // namespace trainyard::server
