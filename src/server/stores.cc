#include "server/stores.h"

#include <limits>
#include <utility>

#include "async/watched_executor.h"
#include "backup/restored_from.h"
#include "server/use_keeper.h"

namespace trainyard::server {

storage::BucketOptions BucketOptionsOf(const ServeOptions& options, const DataDirectory& data,
                                       std::shared_ptr<storage::ByteMeter> meter) {
  return {.data = data.Path(""),
          .create_on_use = options.create_buckets,
          .elsewhere = {options.bucket_dirs.begin(), options.bucket_dirs.end()},
          .real = {options.real_buckets.begin(), options.real_buckets.end()},
          .meter = std::move(meter)};
}

Result<Stores> OpenStores(boost::asio::io_context& loop, const ServeOptions& options,
                          const DataDirectory& data, Foundation& foundation) {
  const SystemClock& clock = foundation.clock;
  Stores stores;
  TY_TRY(stores.writer, store::SqliteJobStore::Open(data.jobs_db()));
  TY_TRY(stores.reader, store::SqliteJobStore::OpenReader(data.jobs_db(), backup::LineageOf(data.Path(""))));
  TY_TRY(stores.logs, logs::SqliteLogStore::Open(loop, clock, data.logs_db()));
  TY_TRY(stores.tails, logs::LogTails::Open(WatchLoop(loop, &foundation.watch, "tails of logs"), *stores.logs,
                                            data.logs_db()));
  TY_TRY(stores.lines, logs::LogLines::Open(data.logs_db()));
  TY_TRY(stores.usage, metrics::UsageHistory::Open(WatchLoop(loop, &foundation.watch, "use of replicas"),
                                                   foundation.removal_clock, data.Path("metrics.db")));
  TY_TRY(stores.identities,
         identity::Identities::Open(loop.get_executor(), clock,
                                    {.path = data.Path("access.db"),
                                     .default_project = options.project,
                                     .projects_of_jobs = [&reader = *stores.reader] {
                                       return reader.RecentProjects(std::numeric_limits<int>::max());
                                     }}));
  const auto project_of = [projects = stores.identities->bucket_projects()](const std::string& bucket) {
    return projects->Of(bucket);
  };
  stores.meter = MakeByteMeter(options.shares.quotas, project_of);
  storage::BucketOptions buckets = BucketOptionsOf(options, data, stores.meter);
  buckets.project_of = project_of;
  buckets.expiry_clock = &foundation.removal_clock;
  buckets.check_space = [&disk = foundation.disk, &elsewhere = options.bucket_dirs](const std::string& name) {
    return elsewhere.contains(name) ? Status() : disk.Look().may_store;
  };
  TY_TRY(stores.buckets, storage::Buckets::Open(std::move(buckets), clock, foundation.files));
  TY_TRY(stores.studies, studies::StudyService::Open(WatchLoop(loop, &foundation.watch, "studies"), clock,
                                                     data.Path("studies.db")));
  TY_TRY(stores.secrets, store::SecretStore::Open(data.Path("secrets")));
  TY_TRY(stores.audit_search, audit::AuditSearch::Open(data.audit_dir()));
  if (options.auth) {
    audit::AuditLog::Options kept{.files = {.folder = data.audit_dir(), .retention = options.access.audit},
                                  .default_project = options.project};
    TY_TRY(stores.audit, audit::AuditLog::Open(clock, std::move(kept)));
  }
  return stores;
}

}  // namespace trainyard::server
