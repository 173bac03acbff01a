#pragma once

#include <string>
#include <vector>

#include "api/iam/asking_attempts.h"
#include "api/iam/authority.h"
#include "base/clock.h"
#include "control/job_service.h"
#include "control/run/token_service.h"
#include "net/access/door.h"
#include "server/options/serve_options.h"
#include "stores/audit/audit_log.h"
#include "stores/identity/identities.h"

namespace trainyard::server {

/// Writes decisions into the audit log, as lines of their projects. The arguments outlive the result.
[[nodiscard]] access::AuditSink AuditInto(audit::AuditLog& log, const ServeOptions& options,
                                          const identity::Identities& identities);

/// The access checks of each purpose of a socket, for servers that require login. Decisions go into the audit
/// log. Loop thread only.
class Doors {
 public:
  struct Parts {
    identity::Identities& identities;
    control::TokenService& tokens;
    control::JobService& jobs;
    const Clock& clock;
    api::AskingAttempts& asking;
    const std::vector<std::string>& own_urls;  ///< stores/identity/jwt_rules.h
    audit::AuditLog& audit;
  };
  /// `options` and the parts outlive it.
  Doors(const ServeOptions& options, const Parts& parts);
  Doors(const Doors&) = delete;
  Doors& operator=(const Doors&) = delete;

  [[nodiscard]] access::Door& administration() noexcept { return administration_; }
  [[nodiscard]] access::Door& replicas() noexcept { return replicas_; }

 private:
  api::IdentityAuthority administration_authority_;
  api::IdentityAuthority replica_authority_;
  access::Door administration_;
  access::Door replicas_;
};

}  // namespace trainyard::server
