#pragma once

#include <string>
#include <vector>

#include "trainyard/replica/v1/replica.pb.h"

/// What a program needs to know of the machine. Any thread.
namespace trainyard::replica {

/// CPUs that we may run on, at least 1.
[[nodiscard]] int CpuCount();

/// Files of accelerators that are not this replica's. A declared one may be any of the machine's of its kind.
[[nodiscard]] std::vector<std::string> ForbiddenDevices(const v1::Devices& own);

}  // namespace trainyard::replica
