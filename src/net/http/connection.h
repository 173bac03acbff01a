#pragma once

#include <boost/asio/awaitable.hpp>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/http/channel.h"
#include "net/http/connection_budget.h"
#include "net/http/head.h"
#include "net/http/incoming.h"
#include "net/http/message.h"
#include "net/http/response_writer.h"
#include "net/http/router.h"
#include "net/http/server_options.h"

namespace trainyard::http {

/// State that all connections of a server share. Outlives them.
struct ConnectionContext {
  const Router& router;
  const ServerOptions& options;
  std::function<std::string_view()> date;  ///< the Date field's value, valid until the next call
  const bool& stopping;                    ///< each connection ends after its current response
  const bool& idle_over;                   ///< connections do not wait for another request
};

/// One client's connection: requests are handled one at a time, in order. Loop thread only.
///
///   waiting for a request <--> answering it --> upgraded, or closed
class Connection {
 public:
  Connection(const ConnectionContext& context, std::shared_ptr<Channel> channel, FramingRules rules,
             ConnectionSeat& seat);

  /// Runs until the client, an error, a deadline or Stop ends it. The object lives until this returns.
  asio::awaitable<void> Run();
  /// Called when the server stops. Closes at once if it is waiting for a request, streaming or upgraded, else
  /// after the current response.
  void Stop();
  /// Whether it waits for a request, or for the client to notice that a refused request is over.
  [[nodiscard]] bool IsWaiting() const;
  /// Closes the connection in any state.
  void Close() { channel_->Close(); }

 private:
  enum class After { kKeep, kClose, kCloseGently };
  using HeadResult = std::expected<RequestHead, HeadError>;

  asio::awaitable<After> ServeHttp2();
  /// Nullopt: the connection ended between two requests.
  asio::awaitable<std::optional<HeadResult>> ReadHead();
  asio::awaitable<After> ServeOne();
  asio::awaitable<After> Answer(RequestHead head, Framing framing);
  asio::awaitable<Status> Admitted(const Request& request);
  asio::awaitable<Result<Response>> Call(Request& request);
  asio::awaitable<After> Reply(Response response, RequestBody& body, ResponseContext context);
  asio::awaitable<After> Refuse(HeadError error);
  asio::awaitable<After> Upgrade(UpgradeBody upgrade);
  void Enter(ConnectionPhase phase);
  void Log(const Request& request, int status, std::chrono::steady_clock::time_point start) const;

  const ConnectionContext& context_;
  std::shared_ptr<Channel> channel_;  // shared with the stream of an upgraded connection
  FramingRules rules_;
  HeadScanner scanner_;
  ConnectionSeat& seat_;
  ConnectionPhase phase_ = ConnectionPhase::kUnproven;
  bool first_ = true;
};

}  // namespace trainyard::http
