#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "net/http/connection_budget.h"
#include "net/http/message.h"
#include "net/http/peer.h"

namespace trainyard {
class LoopWatch;
}  // namespace trainyard

namespace trainyard::http {

/// Requests that were answered, by the first digit of the status (index 0 and 6 to 9 stay 0). Loop thread
/// only.
struct RequestCounts {
  std::array<std::int64_t, 10> by_class{};
  void Add(int status) { ++by_class.at(static_cast<std::size_t>(status / 100 % 10)); }
};

/// Whether a request is allowed at all. Called once for each, an upgrade too, when its head is parsed and
/// before anything else sees it; nothing of the body has been read. An error is sent as the answer. May write
/// request.peer->uid. Loop thread.
using Admit = std::function<asio::awaitable<Status>(const Request& request)>;

/// The server's limits. A client that exceeds one gets an error, and its connection is closed.
struct ServerOptions {
  /// Used if `budget` is null. Beyond it connections without a request in flight are closed; 503 if all have
  /// one.
  std::size_t connections_max = 10'000;
  std::size_t head_bytes_max = std::size_t{64} << 10;  ///< request line and header fields; then 431
  std::uint64_t body_bytes_max = std::uint64_t{5}
                                 << 40;  ///< what one object may have (storage v1: 5 TiB); then 413
  std::uint64_t drain_bytes_max = std::size_t{256}
                                  << 10;  ///< of a body that nobody read, to keep the connection
  std::chrono::milliseconds head_wait_max{
      20'000};  ///< from the first byte of a request to the end of its head
  std::chrono::milliseconds body_wait_max{60'000};  ///< between two bytes of a body
  std::uint64_t body_window_bytes_min = 7'200;      ///< of a body in each body_window, 240 a second; then 408
  std::chrono::milliseconds body_window{30'000};    ///< of waiting for the client
  std::chrono::milliseconds idle_wait_max{120'000};  ///< between two requests
  std::chrono::milliseconds write_wait_max{60'000};  ///< between two bytes that the client takes
  std::chrono::milliseconds close_wait_max{2'000};  ///< for the client to notice the end of a refused request
  std::chrono::milliseconds stop_wait_max{10'000};  ///< for requests in flight when the server stops
  bool log_requests = false;                        ///< a diagnostic line each, at the debug level
  RequestCounts* counts = nullptr;                  ///< counted there, if there is one; outlives the server
  /// What a trusted proxy says of its client: may set Request::client_address and scheme. Called before
  /// `admit`; null: no proxy is trusted. Loop thread.
  std::function<void(Request& request)> look_behind_proxy = nullptr;
  Admit admit = nullptr;               ///< null: all requests are allowed
  ConnectionBudget* budget = nullptr;  ///< shared with other servers; outlives them; null: one of its own
  LoopWatch* watch = nullptr;          ///< judges the turns of its connections; outlives the server
  /// The account of a TCP connection, which the budget counts it for; null: nobody's.
  std::function<std::optional<std::uint32_t>(const Peer& peer)> uid_of;
};

}  // namespace trainyard::http
