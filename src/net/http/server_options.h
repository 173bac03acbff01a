#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "net/http/connection_budget.h"
#include "net/http/message.h"
#include "net/http/peer.h"

namespace trainyard {
class LoopWatch;
}  // namespace trainyard

namespace trainyard::http {

class Channel;

/// Requests that were answered, by the first digit of the status (index 0 and 6 to 9 stay 0). Loop thread
/// only.
struct RequestCounts {
  std::array<std::int64_t, 10> by_class{};
  void Add(int status) { ++by_class.at(static_cast<std::size_t>(status / 100 % 10)); }
};

/// Decides whether a request is allowed at all. Called once per request, also for an upgrade, after its head
/// is parsed and before anything else sees it; the body has not been read. An error is sent as the response.
/// May write request.peer->uid. Loop thread.
using Admit = std::function<asio::awaitable<Status>(const Request& request)>;

/// The server's limits. A client that exceeds one gets an error, and its connection is closed.
struct ServerOptions {
  /// Used if `budget` is null. Beyond it, connections without a request in flight are closed; 503 if all have
  /// one.
  std::size_t connections_max = 10'000;
  std::size_t head_bytes_max = std::size_t{64} << 10;  ///< request line and header fields; then 431
  std::uint64_t body_bytes_max = std::uint64_t{5}
                                 << 40;  ///< the largest object (storage v1: 5 TiB); then 413
  std::uint64_t drain_bytes_max = std::size_t{256}
                                  << 10;  ///< of an unread body, read in order to keep the connection
  std::chrono::milliseconds head_wait_max{
      20'000};  ///< from the first byte of a request to the end of its head
  std::chrono::milliseconds body_wait_max{60'000};  ///< between two bytes of a body
  std::uint64_t body_window_bytes_min = 7'200;      ///< of a body in each body_window: 240 bytes/s; then 408
  std::chrono::milliseconds body_window{30'000};    ///< of time spent waiting for the client
  /// Between two requests. Clients that keep connections send their next request without a look at the
  /// connection, and do not repeat a POST.
  std::chrono::milliseconds idle_wait_max{600'000};
  std::chrono::milliseconds write_wait_max{60'000};  ///< between two bytes that the client accepts
  std::chrono::milliseconds close_wait_max{2'000};  ///< for the client to notice the end of a refused request
  std::chrono::milliseconds stop_wait_max{10'000};  ///< for requests in flight when the server stops
  bool log_requests = false;                        ///< one diagnostic line per request, at the debug level
  RequestCounts* counts = nullptr;                  ///< null: not counted; outlives the server
  /// Applies what a trusted proxy reports about its client: may set Request::client_address and scheme.
  /// Called before `admit`; null: no proxy is trusted. Loop thread.
  std::function<void(Request& request)> look_behind_proxy = nullptr;
  Admit admit = nullptr;  ///< null: all requests are allowed
  ConnectionBudget* budget =
      nullptr;                 ///< shared with other servers; outlives them; null: the server makes its own
  LoopWatch* watch = nullptr;  ///< measures the turns of its connections; outlives the server
  /// Serves a connection for which the TLS handshake selected HTTP/2, until it ends. Null: HTTP/2 is not
  /// offered. It is selected only for clients that do not list HTTP/1.1 (MakeServerTls). The channel's
  /// signals say when the server stops; after stop_wait_max the channel is closed. Loop thread.
  std::function<asio::awaitable<void>(std::shared_ptr<Channel> channel)> http2 = nullptr;
  /// The account of a TCP connection, for the budget; null: unknown for all.
  std::function<std::optional<std::uint32_t>(const Peer& peer)> uid_of;
};

}  // namespace trainyard::http
