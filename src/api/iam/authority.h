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

}  // namespace trainyard::api
