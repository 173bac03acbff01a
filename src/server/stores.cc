#include "server/stores.h"

#include <limits>
#include <utility>

#include "base/async/diagnostics.h"
#include "control/upkeep/use_keeper.h"
#include "stores/backup/known_jobs.h"
#include "stores/backup/restore_backup.h"

namespace trainyard::server {

storage::BucketOptions BucketOptionsOf(const Foundation& foundation,
                                       std::shared_ptr<storage::ByteMeter> meter) {
  const ServeOptions& options = foundation.options;
  return {.data = foundation.data.Path(""),
          .create_on_use = options.create_buckets,
          .elsewhere = {options.bucket_dirs.begin(), options.bucket_dirs.end()},
          .real = {options.real_buckets.begin(), options.real_buckets.end()},
          .meter = std::move(meter)};
}

namespace {

template <class Store, class Explain>
Result<Store> Explained(Result<Store> opened, const Explain& explain) {
  if (!opened) return std::unexpected(explain(std::move(opened).error()));
  return opened;
}

}  // namespace

Result<Stores> OpenStores(Foundation& foundation) {
  const ServeOptions& options = foundation.options;
  const store::DataDirectory& data = foundation.data;
  const SystemClock& clock = foundation.clock;
  TY_RETURN_IF_ERROR(backup::CheckDatabaseFiles(options.data_dir));
  for (const std::string& line : backup::WhatIsGone(options.data_dir))
    Diagnose(DiagnosticLevel::kError, line);
  TY_RETURN_IF_ERROR(
      backup::SetAsideIfDamaged(data.logs_db(), "The log lines of earlier jobs are not shown."));
  TY_RETURN_IF_ERROR(
      backup::SetAsideIfDamaged(data.Path("metrics.db"), "The metrics of earlier jobs are not shown."));
  const backup::KnownJobs known = backup::LookForJobs(options.data_dir, options.backup_dir);
  TY_RETURN_IF_ERROR(backup::CheckJobsFile(options.data_dir, known));
  TY_RETURN_IF_ERROR(backup::CheckReadable(options.data_dir, known));
  const auto explained = [&](const char* name) {
    return [&options, &known, name](Error error) {
      return backup::ExplainDamage(std::move(error), options.data_dir, name, known);
    };
  };
  Stores stores;
  TY_TRY(stores.writer, Explained(store::JobStore::Open(data.jobs_db()), explained("trainyard.db")));
  TY_RETURN_IF_ERROR(backup::CheckNumbers(*stores.writer, options.data_dir, known));
  TY_TRY(stores.reader, store::JobStore::OpenReader(data.jobs_db(), backup::LineageOf(data.Path(""))));
  TY_TRY(stores.logs, logs::LogStore::Open(foundation.loop, clock, data.logs_db()));
  TY_TRY(stores.tails,
         logs::LogTails::Open(foundation.LoopFor("tails of logs"), *stores.logs, data.logs_db()));
  TY_TRY(stores.lines, logs::LogLines::Open(data.logs_db()));
  TY_TRY(stores.usage, metrics::UsageHistory::Open(foundation.LoopFor("use of replicas"),
                                                   foundation.removal_clock, data.Path("metrics.db")));
  TY_TRY(stores.identities, Explained(identity::Identities::Open(foundation.loop.get_executor(), clock,
                                                                 {.path = data.Path("access.db"),
                                                                  .default_project = options.project,
                                                                  .projects_of_jobs =
                                                                      [&reader = *stores.reader] {
                                                                        return reader.RecentProjects(
                                                                            std::numeric_limits<int>::max());
                                                                      }}),
                                      explained("access.db")));
  const auto project_of = [projects = stores.identities->bucket_projects()](const std::string& bucket) {
    return projects->Of(bucket);
  };
  stores.meter = control::MakeByteMeter(options.shares.quotas, project_of);
  storage::BucketOptions buckets = BucketOptionsOf(foundation, stores.meter);
  buckets.project_of = project_of;
  buckets.expiry_clock = &foundation.removal_clock;
  buckets.check_space = [&disk = foundation.disk, &elsewhere = options.bucket_dirs](const std::string& name) {
    return elsewhere.contains(name) ? Status() : disk.Look().may_store;
  };
  TY_TRY(stores.buckets, Explained(storage::Buckets::Open(std::move(buckets), clock, foundation.files),
                                   explained("objects.db")));
  TY_TRY(stores.studies,
         Explained(studies::StudyService::Open(foundation.LoopFor("studies"), clock, data.Path("studies.db")),
                   explained("studies.db")));
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
