#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "control/notices/notifier.h"
#include "server/foundation.h"
#include "server/job_loop.h"
#include "stores/notices/outbox.h"

namespace trainyard::server {

/// The notices about jobs: their outbox, and what sends them. Loop thread only.
struct Notices {
  /// Null: the operator named no destination. Blocking. `base` and `loop` outlive it. Errors: of the files of
  /// the options, and of the database.
  [[nodiscard]] static Result<std::unique_ptr<Notices>> Open(Foundation& base, JobLoop& loop);

  std::unique_ptr<notices::Outbox> outbox;
  std::unique_ptr<control::Notifier> notifier;
};

/// The header fields that prove who sent a notice: the time, and the HMAC-SHA256 of "TIME.BODY". Pure.
[[nodiscard]] http::Headers SignedHeaders(const notices::Letter& letter, const std::string& secret,
                                          SysTime now);

}  // namespace trainyard::server
