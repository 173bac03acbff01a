#pragma once

#include <span>

#include "control/testing/schedule.h"

namespace trainyard::control {

/// The faults of a cluster with Slurm and their repairs, which happen only in such worlds.
[[nodiscard]] std::span<const Action> SlurmActions();

}  // namespace trainyard::control
