#include "server/installation.h"

#include <string>
#include <utility>

#include "cli/version.h"
#include "control/accounts.h"
#include "control/upkeep/drain_order.h"
#include "programs/environment/site_hook.h"
#include "programs/interpreters/warm_folder.h"
#include "programs/node/machine_figures.h"
#include "server/node_settings.h"

namespace trainyard::server {

namespace {

/// A server whose supervisors the keeper starts may not enter what they make.
std::int64_t WarmBytesMax(const ServeOptions& options) {
  constexpr int kShare = 8;
  if (!options.keeper.empty()) return 0;
  if (options.warm_bytes_max != ServeOptions::kAutomatic) return options.warm_bytes_max;
  return node::ReadMachineFigures().memory_bytes / kShare;
}

}  // namespace

Callers::Callers(Foundation& base, JobLoop& loop)
    : attempts(base.loop.get_executor(), base.who_asks, base.data.attempts_dir()),
      gates({.host = base.options.host,
             .host_names = base.options.host_names,
             .local_users = base.options.local_users,
             .auth = base.options.auth,
             .proxies = base.options.access.trusted_proxies,
             .job_uids = base.options.job_uids,
             .is_attempt_uid = [this](std::uint32_t uid) { return attempts.Has(uid); }},
            base.loop.get_executor(), base.who_asks),
      asking(
          base.LoopFor("who asks"),
          {.settings = base.settings,
           .clock = base.clock,
           .instance_of = [&loop](std::string attempt) { return loop.jobs.InstanceOf(std::move(attempt)); },
           .peers = gates.uids(),
           .pool = base.who_asks,
           .attempts_dir = base.data.attempts_dir()}),
      request_quota(base.clock, base.options.request_limits, control::NumbersOf(*loop.stores.identities)) {}

Upkeep::Upkeep(Foundation& base, JobLoop& loop, Callers& callers, control::v1::Drain drain)
    : operations({.loop = base.LoopFor("operations"),
                  .clock = base.clock,
                  .jobs = loop.jobs,
                  .admissions = loop.engines.admissions(),
                  .disk = base.disk,
                  .clock_watch = base.clock_watch,
                  .version = std::string(cli::kVersion),
                  .data_dir = base.options.data_dir,
                  .bucket_dirs = base.options.bucket_dirs,
                  .backup_dir = base.options.backup_dir,
                  .asking = callers.asking},
                 std::move(drain)),
      disk_watch(base.LoopFor("the disk"), {.space = base.disk,
                                            .reserve = base.data.reserve(),
                                            .clock = base.clock_watch,
                                            .admissions = loop.engines.admissions()}),
      device_watch(base.LoopFor("accelerators"), {.engine = loop.engines.local(),
                                                  .jobs = loop.jobs,
                                                  .on_new =
                                                      [&loop](const placement::Device& device) {
                                                        loop.engines.AddDevice(device);
                                                        loop.maker.AddDevice(device);
                                                      },
                                                  .are_declared = base.options.accelerators.has_value()}),
      machine_watch({.loop = base.LoopFor("the machine"),
                     .clock = base.clock,
                     .jobs = loop.jobs,
                     .usage = *loop.stores.usage,
                     .data_dir = base.options.data_dir,
                     .bucket_dirs = base.options.bucket_dirs,
                     .devices = loop.engines.devices().devices(),
                     .cpus = static_cast<double>(loop.engines.capacity().cpus),
                     .version = std::string(cli::kVersion)}),
      sweeper(base.LoopFor("sweeping"), {.clock = base.clock_watch,
                                         .jobs = loop.jobs,
                                         .journal = loop.journal,
                                         .logs = *loop.stores.logs,
                                         .hosts = loop.engines.hosts(),
                                         .attempts_dir = base.data.attempts_dir(),
                                         .data_dir = base.options.data_dir,
                                         .environments_dir = base.data.environments_dir(),
                                         .policy = base.options.retention.policy}),
      mothers(base.LoopFor("warm interpreters"),
              {.folder = base.data.Path(replica::kWarmFolder),
               .environments_dir = base.data.environments_dir(),
               .bytes_max = WarmBytesMax(base.options)},
              loop.catalogue) {}

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
  TY_TRY(made->notices, Notices::Open(base, *made->loop));
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
