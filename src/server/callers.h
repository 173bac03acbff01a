#pragma once

#include "api/iam/asking_attempts.h"
#include "control/intake/request_quota.h"
#include "engine/local/attempt_accounts.h"
#include "net/http/server_options.h"
#include "net/sockets/gates.h"
#include "server/foundation.h"
#include "server/job_loop.h"

namespace trainyard::server {

/// Identifies callers and limits and counts their requests. Loop thread only.
struct Callers {
  /// Both outlive it.
  Callers(Foundation& base, JobLoop& loop);
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  engine::AttemptAccounts attempts;
  sockets::Gates gates;
  api::AskingAttempts asking;
  control::RequestQuota request_quota;
  http::RequestCounts request_counts;
};

}  // namespace trainyard::server
