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

/// Which attempt's program asks: told by the access token that it shows, else by the connection, whose
/// process the kernel knows. The name under which it asks the metadata server proves nothing, since others
/// can read it; one that is another attempt's is refused: kPermissionDenied. kUnavailable: there was no turn
/// to look in time, and who asks must not be taken for nobody. Loop thread only; looking at the machine's
/// processes is a pool's work, one look at a time, and one for each connection.
/// docs/adr/0030-whose-connection.md.
class AskingAttempts {
 public:
  using Attempt = Result<std::optional<std::string>>;
  using Instance = Result<std::optional<control::Instance>>;

  struct Sources {
    const control::Settings& settings;
    const Clock& clock;
    /// The machine of an attempt; nothing: it lives no more (control::JobService).
    std::function<boost::asio::awaitable<std::optional<control::Instance>>(std::string attempt_id)>
        instance_of;
    const access::PeerUids& peers;
    boost::asio::thread_pool& pool;  ///< where nothing waits for other machines: programs wait for the answer
    std::string attempts_dir;
    std::chrono::milliseconds turn_wait_max{10'000};  ///< for those who asked before
  };

  /// What `sources` refers to outlives it.
  AskingAttempts(boost::asio::any_io_executor loop, Sources sources);

  /// The attempt's id. Nothing: no program of a living attempt asks, as far as can be told.
  boost::asio::awaitable<Attempt> Find(const http::Request& request);
  /// The same by the connection alone, whatever token is shown: one gives no right to a new one.
  boost::asio::awaitable<Attempt> FindByPlace(const http::Request& request);
  /// Whether root or this account asks by a socket of the file system, and no program of an attempt. The
  /// process that connected has to live still: it may have given the connection to a program of a job.
  boost::asio::awaitable<bool> IsFromMachine(const http::Request& request);
  /// The machine of that attempt's replica.
  boost::asio::awaitable<Instance> InstanceOf(const http::Request& request);

 private:
  boost::asio::awaitable<Attempt> FindByConnection(http::Peer* peer);

  Sources sources_;
  Turns looks_;
};

using TokenSource = std::function<boost::asio::awaitable<Result<std::string>>(const http::Request&)>;

/// Tokens for programs in replicas: of the attempt that asks, else of control::kAnyReplica. Both outlive what
/// is returned.
[[nodiscard]] TokenSource TokensForReplicas(control::TokenService& tokens, AskingAttempts& asking);

/// Tokens for users. Where who asks has to log in (`auth`) they are the administrator's, and only a living
/// process of the server's account or root gets one that connects to DATA/run/admin.sock itself and is of no
/// attempt: of a TCP connection nobody can say for certain whose it is. Else kUnauthenticated. Without `auth`
/// a token is worth nothing: of control::kAnyReplica. Both outlive what is returned.
[[nodiscard]] TokenSource TokensForUsers(control::TokenService& tokens, AskingAttempts& asking, bool auth);

}  // namespace trainyard::api
