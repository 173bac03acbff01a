#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/iam/authority.h"
#include "api/own/operations.h"
#include "api/route.h"
#include "control/intake/request_quota.h"
#include "control/upkeep/device_watch.h"
#include "control/upkeep/disk_space.h"
#include "control/upkeep/machine_watch.h"
#include "control/upkeep/sweeper.h"
#include "engine/local/attempt_accounts.h"
#include "engine/local/mothers.h"
#include "net/access/audit_line.h"
#include "net/http/router.h"
#include "net/http/server_options.h"
#include "net/sockets/gates.h"
#include "server/job_loop.h"
#include "server/notices.h"

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
  control::DeviceWatch device_watch;
  control::MachineWatch machine_watch;
  control::Sweeper sweeper;
  engine::Mothers mothers;
};

/// All parts of a server except its sockets: the stores of its data directory, the jobs on them, and the
/// routers of its API. Each part is built on the parts before it. Created before the loop runs; after that
/// loop thread only.
struct Installation {
  /// Blocking. Errors: those of the data directory and its databases. `loop` and `options` outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Installation>> Open(boost::asio::io_context& loop,
                                                                  const ServeOptions& options,
                                                                  store::DataDirectory data,
                                                                  const BoundSockets& sockets,
                                                                  const engine::MachineLimits& limits);

  /// The access checks by purpose of a socket; null if authentication is off.
  [[nodiscard]] access::Door* administration_door() noexcept {
    return doors ? &doors->administration() : nullptr;
  }
  [[nodiscard]] access::Door* replica_door() noexcept { return doors ? &doors->replicas() : nullptr; }

  std::unique_ptr<Foundation> base;  ///< the parts are never null after Open
  Stores stores;
  std::unique_ptr<Engines> engines;
  std::unique_ptr<JobLoop> loop;
  std::unique_ptr<Callers> callers;
  std::unique_ptr<Upkeep> upkeep;
  std::unique_ptr<Notices> notices;  ///< null without destinations
  std::optional<api::Doors> doors;
  http::Router administration_routes;  ///< the routes by purpose of a socket: routes.cc
  http::Router replica_routes;
  http::Router supervisor_routes;
};

/// Returns the function that records decisions about access; null if authentication is off.
[[nodiscard]] access::AuditSink AuditSinkOf(Installation& all);

/// Fills the installation's routers, and guards them with its doors. docs/adr/0022 says which part of the API
/// is available on which sockets. `universe`: see api::MetadataAnswers. Call it when all other parts are
/// made.
void AddRoutes(Installation& all, const std::string& universe);

/// What the functions of a Google front (api::GoogleFront) are called with, for users or for replicas.
[[nodiscard]] std::vector<api::Source> FrontSources(Installation& all, bool is_for_users);

/// The routes for monitoring, which anyone may request: the answers name no job and no project.
[[nodiscard]] http::Router MonitoringRoutes(Installation& all);

}  // namespace trainyard::server
