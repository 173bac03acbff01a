#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <functional>
#include <string>

#include "base/clock.h"
#include "control/accounts.h"
#include "control/settings.h"
#include "control/upkeep/figures.h"
#include "engine/admissions.h"
#include "engine/attempt_hosts.h"
#include "rules/cluster/project_number.h"
#include "rules/jobs/time_limits.h"
#include "rules/placement/quota.h"
#include "stores/logs/log_store.h"
#include "stores/store/journal.h"
#include "stores/store/secret_store.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::storage {
class Buckets;
}  // namespace trainyard::storage

namespace trainyard::metrics {
class UsageHistory;
}  // namespace trainyard::metrics

namespace trainyard::control {

struct ImageRegistries;
class RegistryTurns;

/// The objects that the control loop works with. All outlive it; all are used on the loop thread.
struct Collaborators {
  boost::asio::any_io_executor loop;
  store::Journal& journal;
  logs::LogStore& logs;
  engine::Admissions& admissions;
  engine::AttemptHosts hosts;
  const Clock& clock;
  const Settings& settings;
  struct Kept {
    storage::Buckets* buckets = nullptr;     ///< null: there are no trials
    store::SecretStore* secrets = nullptr;   ///< null: jobs with secrets are refused
    metrics::UsageHistory* usage = nullptr;  ///< null: the resource use of replicas is not stored
  } kept{};
  struct Images {
    const ImageRegistries* registries = nullptr;  ///< null: no job has images
    RegistryTurns* turns = nullptr;               ///< set by JobService
  } images{};
  struct Bounds {
    const placement::Quotas* quotas = nullptr;  ///< null: there are no quotas
    ProjectBytes* bytes = nullptr;              ///< null: the bytes of projects are not counted
    /// Whether the disk has space for one more job: kResourceExhausted if not. Null: always.
    std::function<Status()> check_space{};
    /// Whether the disk has space for a replica that starts now; an error is one sentence. Null: always.
    std::function<Status()> may_begin{};
  } bounds{};
  struct Hooks {
    /// The buckets that the job's programs may use. Null: every program may use all.
    std::function<boost::asio::awaitable<replica::v1::BucketRights>(const v1::JobRecord& job)> buckets_of{};
    /// Called when the reason why a job (or a trial of it) waits has changed. May be null.
    std::function<void(const v1::JobRecord& job)> on_wait_changed{};
    /// The runtime version that suits the resources that a job was granted; empty: keep its present one.
    /// Null: always empty.
    std::function<std::string(const v1::JobRecord& job, const engine::Grant& grant)> runtime_for{};
  } hooks{};
  cluster::NumberOf number_of = cluster::HashedNumber;
  Accounts accounts{};
  jobs::JumpedSince jumped_since{};  ///< null: the clock never jumps
};

}  // namespace trainyard::control
