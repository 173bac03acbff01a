#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/iam/asking_attempts.h"
#include "base/clock.h"
#include "control/job_service.h"
#include "control/run/token_service.h"
#include "net/access/door.h"
#include "stores/audit/audit_log.h"
#include "stores/identity/identities.h"

namespace trainyard::api {

/// Identifies callers and their rights from what is stored: identities, the jobs' own policies, and for
/// programs in replicas the attempt, whose rights are those of its job's service account. Loop thread only.
class IdentityAuthority final : public access::Authority {
 public:
  struct Sources {
    identity::Identities& identities;
    control::TokenService& tokens;
    control::JobService& jobs;
    const Clock& clock;
    /// The audiences that a JWT may name: never the Host of the request (stores/identity/jwt_rules.h).
    const std::vector<std::string>& own_urls;
    bool has_sessions = false;         ///< browsers may send their session's cookie
    AskingAttempts* asking = nullptr;  ///< null: connections do not identify callers
  };
  /// What `sources` refers to must outlive it.
  explicit IdentityAuthority(Sources sources) : sources_(sources) {}

  boost::asio::awaitable<Result<iam::Login>> WhoAsks(const http::Request& request) override;
  boost::asio::awaitable<bool> StillHolds(iam::Login login) const override;
  boost::asio::awaitable<Standing> StandingOf(std::string principal, std::string permission,
                                              iam::Resource resource) override;

 private:
  [[nodiscard]] Result<iam::Login> ByCookie(const http::Request& request, const std::string& token) const;
  boost::asio::awaitable<Result<iam::Login>> ByOwnToken(std::string token, const http::Request& request);
  boost::asio::awaitable<Result<iam::Login>> ByAttempt(std::string attempt_id) const;
  [[nodiscard]] boost::asio::awaitable<bool> AttemptHolds(iam::Login login) const;
  boost::asio::awaitable<Result<iam::Login>> IfItsAttemptHolds(Result<iam::Login> login) const;
  boost::asio::awaitable<Result<iam::Login>> ByConnection(const http::Request& request);

  Sources sources_;
};

/// Writes decisions into the audit log, as lines of their projects; `default_project` for those that belong
/// to none. What is referred to outlives the result.
[[nodiscard]] access::AuditSink AuditInto(audit::AuditLog& log, const identity::Identities& identities,
                                          std::string default_project);

/// The access checks of each kind of clients, for servers that require login. Loop thread only.
class Doors {
 public:
  /// `default_project` and `audit`: those of access::Door::Options.
  Doors(const IdentityAuthority::Sources& sources, const std::string& default_project,
        const access::AuditSink& audit);
  Doors(const Doors&) = delete;
  Doors& operator=(const Doors&) = delete;

  [[nodiscard]] access::Door& administration() noexcept { return administration_; }
  [[nodiscard]] access::Door& replicas() noexcept { return replicas_; }

 private:
  IdentityAuthority administration_authority_;  ///< callers may be browsers with a session
  IdentityAuthority replica_authority_;         ///< callers may be programs of attempts
  access::Door administration_;
  access::Door replicas_;
};

}  // namespace trainyard::api
