#pragma once

#include "api/own/operations.h"
#include "api/own/own_handlers.h"
#include "control/upkeep/disk_watch.h"
#include "control/upkeep/machine_watch.h"
#include "control/upkeep/sweeper.h"
#include "server/callers.h"
#include "server/foundation.h"
#include "server/job_loop.h"

namespace trainyard::server {

/// The operator's actions on a running server, and the server's own periodic work: it checks its disk and its
/// machine, and removes what is old. Loop thread only.
struct Upkeep {
  /// Drains at once if the previous server did (`drain`). All others outlive it.
  Upkeep(Foundation& base, JobLoop& loop, Callers& callers, control::v1::Drain drain);
  Upkeep(const Upkeep&) = delete;
  Upkeep& operator=(const Upkeep&) = delete;

  [[nodiscard]] api::MachineSource Machine(Foundation& base);

  api::Operations operations;
  control::DiskWatch disk_watch;
  control::MachineWatch machine_watch;
  control::Sweeper sweeper;
};

}  // namespace trainyard::server
