#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/async/turns.h"
#include "base/result.h"
#include "control/intake/instance.h"
#include "control/run/token_service.h"
#include "control/settings.h"
#include "net/access/peer_uid.h"
#include "net/http/message.h"

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

}  // namespace trainyard::api
