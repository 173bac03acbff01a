#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <functional>
#include <string>

#include "base/clock.h"
#include "control/accounts.h"
#include "control/run/without_jumps.h"
#include "control/settings.h"
#include "control/upkeep/project_bytes.h"
#include "engine/admissions.h"
#include "engine/attempt_hosts.h"
#include "rules/cluster/project_number.h"
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

/// What the control loop works with. All outlive it; all are used on the loop thread.
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
    metrics::UsageHistory* usage = nullptr;  ///< null: figures of replicas are not kept
  } kept{};
  struct Images {
    const ImageRegistries* registries = nullptr;  ///< null: no job has images
    RegistryTurns* turns = nullptr;               ///< JobService's own
  } images{};
  struct Bounds {
    const placement::Quotas* quotas = nullptr;  ///< null: nobody has any
    ProjectBytes* bytes = nullptr;              ///< null: what projects keep is not counted
    /// Whether the disk has room for one more job: kResourceExhausted if not. Null: always.
    std::function<Status()> check_space{};
    /// Whether the disk has room for a replica that starts now; an error is one sentence. Null: always.
    std::function<Status()> may_begin{};
  } bounds{};
  struct Hooks {
    /// The buckets that the job's programs may use. Null: every program may use all.
    std::function<boost::asio::awaitable<replica::v1::BucketRights>(const v1::JobRecord& job)> buckets_of{};
    /// Called when the reason why a job (or a trial of it) waits is another one. Null: nobody wants to know.
    std::function<void(const v1::JobRecord& job)> on_wait_changed{};
    /// The runtime version that suits the room a job has got; empty: the one that it has. Null: always that.
    std::function<std::string(const v1::JobRecord& job, const engine::Grant& grant)> runtime_for{};
  } hooks{};
  cluster::NumberOf number_of = cluster::HashedNumber;
  Accounts accounts{};
  JumpedSince jumped_since{};  ///< null: the clock never jumps
};

}  // namespace trainyard::control
