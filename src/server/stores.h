#pragma once

#include <memory>

#include "base/result.h"
#include "server/foundation.h"
#include "stores/audit/audit_log.h"
#include "stores/audit/audit_search.h"
#include "stores/identity/identities.h"
#include "stores/logs/log_lines.h"
#include "stores/logs/log_store.h"
#include "stores/logs/log_tails.h"
#include "stores/metrics/usage_history.h"
#include "stores/storage/buckets.h"
#include "stores/store/job_store.h"
#include "stores/store/secret_store.h"
#include "stores/studies/study_service.h"

namespace trainyard::server {

/// The databases and directories below the data directory. Each may use those before it.
struct Stores {
  std::unique_ptr<store::JobStore> writer;
  std::unique_ptr<store::JobStore> reader;
  std::unique_ptr<logs::LogStore> logs;
  std::unique_ptr<logs::LogTails> tails;
  std::unique_ptr<logs::LogLines> lines;
  std::unique_ptr<metrics::UsageHistory> usage;
  std::unique_ptr<identity::Identities> identities;
  std::shared_ptr<storage::ByteMeter> meter;  ///< null: no quota limits the bytes in buckets
  std::unique_ptr<storage::Buckets> buckets;
  std::unique_ptr<studies::StudyService> studies;
  std::unique_ptr<store::SecretStore> secrets;
  std::unique_ptr<audit::AuditLog> audit;  ///< null if authentication is off
  std::unique_ptr<audit::AuditSearch> audit_search;
};

/// Opens all stores. Blocking. Errors: those of the first that cannot be opened. `foundation` outlives them.
[[nodiscard]] Result<Stores> OpenStores(Foundation& foundation);

/// The options of the buckets: their directories and the like.
[[nodiscard]] storage::BucketOptions BucketOptionsOf(const Foundation& foundation,
                                                     std::shared_ptr<storage::ByteMeter> meter);

}  // namespace trainyard::server
