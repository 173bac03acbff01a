#pragma once

#include <string_view>

#include "base/result.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// The event that moves one replica to another slot. kNotFound: the job has no such replica (the message
/// lists those that it has); kFailedPrecondition: it is not running, or is being moved already. Pure: any
/// thread.
[[nodiscard]] Result<v1::Event> MaintenanceOf(const v1::JobRecord& job, std::string_view task_name);

}  // namespace trainyard::control
