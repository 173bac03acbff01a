#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/async/turns.h"
#include "base/clock.h"
#include "base/result.h"
#include "control/intake/instance.h"
#include "control/job_service.h"
#include "control/run/token_service.h"
#include "control/settings.h"
#include "net/access/door.h"
#include "net/access/peer_uid.h"
#include "net/http/message.h"
#include "stores/audit/audit_log.h"
#include "stores/identity/identities.h"

namespace trainyard::api {

/// The attempt whose program makes a request: identified by its access token, otherwise by the connection,
/// whose process the kernel knows. The host name that it uses for the metadata server proves nothing, since
/// others can read it; if it belongs to another attempt, the request is refused: kPermissionDenied.
/// kUnavailable: the process could not be looked up in time, and the request must not be treated as
/// anonymous. Loop thread only; the machine's processes are looked up on a pool, one look-up at a time, and
/// one per connection. docs/adr/0030-whose-connection.md.
class AskingAttempts {
 public:
  using Attempt = Result<std::optional<std::string>>;
  using Instance = Result<std::optional<control::Instance>>;

  struct Sources {
    const control::Settings& settings;
    const Clock& clock;
    /// The instance data of an attempt; nothing: it is not running any more (control::JobService).
    std::function<boost::asio::awaitable<std::optional<control::Instance>>(std::string attempt_id)>
        instance_of;
    const access::PeerUids& peers;
    boost::asio::thread_pool& pool;  ///< its work must not wait for other machines
    std::string attempts_dir;
    std::chrono::milliseconds turn_wait_max{10'000};  ///< how long to wait for earlier look-ups
  };

  /// What `sources` refers to must outlive it.
  AskingAttempts(boost::asio::any_io_executor loop, Sources sources);

  /// The attempt's id. Nothing: as far as can be determined, no program of a running attempt makes the
  /// request.
  boost::asio::awaitable<Attempt> Find(const http::Request& request);
  /// The same by the connection alone, whatever token is sent: a token gives no right to a new one.
  boost::asio::awaitable<Attempt> FindByPlace(const http::Request& request);
  /// Whether root or this account makes the request through a socket in the file system, and not a program of
  /// an attempt. The process that connected must still exist: it may have passed the connection to a program
  /// of a job.
  boost::asio::awaitable<bool> IsFromMachine(const http::Request& request);
  /// The instance data of that attempt's replica.
  boost::asio::awaitable<Instance> InstanceOf(const http::Request& request);

 private:
  boost::asio::awaitable<Attempt> FindByConnection(http::Peer* peer);

  Sources sources_;
  Turns looks_;
};

using TokenSource = std::function<boost::asio::awaitable<Result<std::string>>(const http::Request&)>;

/// Tokens for programs in replicas: of the attempt that makes the request, otherwise of control::kAnyReplica.
/// Both outlive what is returned.
[[nodiscard]] TokenSource TokensForReplicas(control::TokenService& tokens, AskingAttempts& asking);

/// Tokens for users. If callers have to log in (`auth`), they are the administrator's, and are only given to
/// a running process of the server's account or root that itself connects to DATA/run/admin.sock and belongs
/// to no attempt: the process behind a TCP connection cannot be determined reliably. Otherwise
/// kUnauthenticated. Without `auth` a token gives no rights: it is one of control::kAnyReplica. Both outlive
/// what is returned.
[[nodiscard]] TokenSource TokensForUsers(control::TokenService& tokens, AskingAttempts& asking, bool auth);

/// Identifies callers and their rights from what is stored: identities, the jobs' own policies, and for
/// programs in replicas the attempt, whose rights are those of its job's service account. Loop thread only.
class IdentityAuthority final : public access::Authority {
 public:
  struct Sources {
    identity::Identities& identities;
    control::TokenService& tokens;
    control::JobService& jobs;
    const Clock& clock;
    /// The audiences that a JWT may name: never the Host of the request (stores/identity/jwt.h).
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
