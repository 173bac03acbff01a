#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "base/clock.h"
#include "control/settings.h"
#include "engine/allocator.h"
#include "engine/attempt_host.h"
#include "logs/log_store.h"
#include "store/journal.h"

namespace trainyard::storage {
class Buckets;
}  // namespace trainyard::storage

namespace trainyard::metrics {
class UsageHistory;
}  // namespace trainyard::metrics

namespace trainyard::control {

/// What the control loop works with. All outlive it; all are used on the loop thread.
struct Collaborators {
  boost::asio::any_io_executor loop;
  store::Journal& journal;
  logs::LogStore& logs;
  engine::Allocator& allocator;
  engine::AttemptHost& host;
  const Clock& clock;
  const Settings& settings;
  storage::Buckets* buckets = nullptr;     ///< null: there are no trials
  metrics::UsageHistory* usage = nullptr;  ///< null: figures of replicas are not kept
};

}  // namespace trainyard::control
