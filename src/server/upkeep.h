#pragma once

#include "api/iam/asking_attempts.h"
#include "api/own/operations.h"
#include "control/intake/request_quota.h"
#include "control/upkeep/disk_watch.h"
#include "control/upkeep/machine_watch.h"
#include "control/upkeep/sweeper.h"
#include "engine/local/attempt_accounts.h"
#include "net/http/server_options.h"
#include "net/sockets/gates.h"
#include "server/foundation.h"
#include "server/job_loop.h"

namespace trainyard::server {

/// Identifies callers and limits and counts their requests. Loop thread only.
struct Callers {
  /// Both outlive it.
  Callers(Foundation& base, JobLoop& loop);
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  engine::AttemptAccounts attempts;
  sockets::Gates gates;
  api::AskingAttempts asking;
  control::RequestQuota request_quota;
  http::RequestCounts request_counts;
};

/// The operator's actions on a running server, and the server's own periodic work: it checks its disk and its
/// machine, and removes what is old. Loop thread only.
struct Upkeep {
  /// Drains at once if the previous server did (`drain`). All others outlive it.
  Upkeep(Foundation& base, JobLoop& loop, Callers& callers, control::v1::Drain drain);
  Upkeep(const Upkeep&) = delete;
  Upkeep& operator=(const Upkeep&) = delete;

  api::Operations operations;
  control::DiskWatch disk_watch;
  control::MachineWatch machine_watch;
  control::Sweeper sweeper;
};

}  // namespace trainyard::server
