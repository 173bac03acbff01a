#include "server/installation.h"

#include <utility>

#include "control/upkeep/drain_order.h"
#include "programs/environment/site_hook.h"
#include "server/node_settings.h"
#include "server/routes.h"

namespace trainyard::server {

Result<std::unique_ptr<Installation>> Installation::Open(boost::asio::io_context& loop,
                                                         const ServeOptions& options,
                                                         store::DataDirectory data,
                                                         const BoundSockets& sockets,
                                                         const engine::MachineLimits& limits) {
  TY_RETURN_IF_ERROR(CheckJobUsers(options, data));
  TY_RETURN_IF_ERROR(environment::InstallSiteHook(data.environments_dir()));
  TY_TRY(environment::Catalogue catalogue, environment::Catalogue::Load(data.environments_dir()));
  auto made = std::make_unique<Installation>();
  TY_TRY(made->base, Foundation::Open(loop, options, std::move(data), sockets));
  Foundation& base = *made->base;
  TY_TRY(made->stores, OpenStores(base));
  TY_TRY(control::v1::Drain drain, control::ReadDrain(base.data.Path("")));
  auto needed = [self = made.get()] { return self->loop->jobs.removal().NeededImages(); };
  TY_TRY(made->engines, Engines::Open(base, sockets, limits, std::move(needed)));
  made->loop = std::make_unique<JobLoop>(base, made->stores, *made->engines, std::move(catalogue));
  made->callers = std::make_unique<Callers>(base, *made->loop);
  made->upkeep = std::make_unique<Upkeep>(base, *made->loop, *made->callers, std::move(drain));
  if (options.auth) {
    made->doors.emplace(api::IdentityAuthority::Sources{.identities = *made->stores.identities,
                                                        .tokens = made->loop->tokens,
                                                        .jobs = made->loop->jobs,
                                                        .clock = base.clock,
                                                        .own_urls = base.own_urls,
                                                        .asking = &made->callers->asking},
                        options.project, AuditSinkOf(*made));
  }
  AddRoutes(*made, "localhost:" + std::to_string(sockets.administration_tls.port));
  return made;
}

}  // namespace trainyard::server
