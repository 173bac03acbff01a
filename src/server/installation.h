#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/iam/authority.h"
#include "net/http/router.h"
#include "server/bound_sockets.h"
#include "server/engines.h"
#include "server/foundation.h"
#include "server/job_loop.h"
#include "server/options/serve_options.h"
#include "server/stores.h"
#include "server/upkeep.h"

namespace trainyard::server {

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
  std::optional<api::Doors> doors;
  http::Router administration_routes;  ///< the routes by purpose of a socket: routes.h
  http::Router replica_routes;
  http::Router supervisor_routes;
};

}  // namespace trainyard::server
