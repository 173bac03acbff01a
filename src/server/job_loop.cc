#include "server/job_loop.h"

#include <string>
#include <utility>
#include <vector>

#include "control/accounts.h"
#include "programs/environment/built_runtime.h"
#include "stores/storage/bucket_rights.h"

namespace trainyard::server {

namespace {

control::JobMaker::Policy MakePolicy(JobLoop& loop, Foundation& foundation) {
  const ServeOptions& options = foundation.options;
  identity::Identities& identities = *loop.stores.identities;
  control::BucketOwners owners{
      .project_of = [&identities](const std::string& bucket) { return identities.ProjectOf(bucket); },
      .set_project =
          [&identities](std::string bucket, std::string project) {
            return identities.SetBucketProject(std::move(bucket), std::move(project));
          }};
  decltype(control::JobMaker::Policy::engine_of) engine_of;
  if (loop.engines.clusters() != nullptr)
    engine_of = [&engines = loop.engines](const placement::Gang& gang) { return engines.EngineOf(gang); };
  std::vector<std::string> mapped;
  for (const auto& [pattern, reference] : options.containers.image_map) mapped.push_back(pattern);
  return {.runtime_default = options.default_runtime,
          .runtime_fallback = options.runtime_fallback,
          .images = options.images,
          .mapped_images = std::move(mapped),
          .pythons = loop.pythons->Look(),
          .look_at_pythons = [inventory = loop.pythons] { return inventory->Look(); },
          .capacity = loop.engines.capacity(),
          .devices = loop.engines.devices(),
          .engine_of = std::move(engine_of),
          .registries = &foundation.registries,
          .containers = {.are_here = foundation.containers.kind !=
                                     replica::v1::Manifest::CONTAINER_RUNTIME_UNSPECIFIED,
                         .lacking = foundation.containers.lacking},
          .lookups = &foundation.image_lookups,
          .bucket_owners = std::move(owners),
          .number_of = control::NumbersOf(*loop.stores.identities),
          .accounts = control::AccountsOf(*loop.stores.identities),
          .destinations = options.notices.destinations};
}

/// Null without login: then every program may use all buckets.
decltype(control::Collaborators::Hooks::buckets_of) BucketsOf(const ServeOptions& options, Stores& stores) {
  if (!options.auth) return nullptr;
  return
      [&stores, account_of = control::RightsAccount(*stores.identities)](const control::v1::JobRecord& job) {
        return storage::BucketRightsOf(*stores.buckets, *stores.identities, account_of(job));
      };
}

curves::JobCurves::Outside CurvesOutside(const ServeOptions& options, control::JobService& jobs,
                                         Stores& stores) {
  curves::JobCurves::Outside outside{jobs, *stores.buckets, *stores.usage};
  if (!options.auth) return outside;
  outside.may_read = [&stores](const std::string& service_account, const std::string& bucket) {
    return storage::MayReadBucket(*stores.identities, service_account, bucket);
  };
  outside.account_of = control::RightsAccount(*stores.identities);
  return outside;
}

}  // namespace

JobLoop::JobLoop(Foundation& base, Stores& kept, Engines& places, environment::Catalogue read)
    : stores(kept),
      engines(places),
      pythons(std::make_shared<environment::PythonInventory>(base.data.environments_dir())),
      catalogue(std::move(read)),
      journal(base.loop, *stores.writer, *stores.reader),
      use_keeper(base.LoopFor("use of projects"),
                 {.engine = engines.local(),
                  .logs = *stores.logs,
                  .buckets = BucketOptionsOf(base, nullptr),
                  .meter = stores.meter,
                  .clock = base.clock,
                  .files = base.files,
                  .file = base.data.Path("project-use.json"),
                  .quotas = base.options.shares.quotas},
                 *stores.reader),
      maker(*stores.buckets, catalogue, base.clock, MakePolicy(*this, base)),
      jobs({.loop = base.LoopFor("jobs"),
            .journal = journal,
            .logs = *stores.logs,
            .admissions = engines.admissions(),
            .hosts = engines.hosts(),
            .clock = base.clock,
            .settings = base.settings,
            .kept = {.buckets = stores.buckets.get(),
                     .secrets = stores.secrets.get(),
                     .usage = stores.usage.get()},
            .images = {.registries = &base.registries},
            .bounds = {.quotas = &base.options.shares.quotas,
                       .bytes = &use_keeper.bytes(),
                       .check_space = [&base] { return base.disk.Last().may_store; },
                       .may_begin = [&base] { return base.disk.Last().may_begin; }},
            .hooks = {.buckets_of = BucketsOf(base.options, stores)},
            .number_of = control::NumbersOf(*stores.identities),
            .accounts = control::AccountsOf(*stores.identities),
            .jumped_since = [&base](SysTime since) { return base.clock_watch.JumpedSince(since); }},
           maker, base.options.accelerator_quota),
      curves(base.LoopFor("curves"), CurvesOutside(base.options, jobs, stores)),
      tokens(base.settings, base.clock, jobs) {}

}  // namespace trainyard::server
