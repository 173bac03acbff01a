#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/remote/named_targets.h"
#include "net/http/connection_budget.h"
#include "net/mux/session.h"

/// What builds on nodes without a way out fetch by way of the server: package indexes, registries of images.
namespace trainyard::engine {

struct OutsideTarget {
  std::string host;
  std::string port;
  friend bool operator==(const OutsideTarget&, const OutsideTarget&) = default;
};

/// Of "CONNECT example.com:443 HTTP/1.1" and header fields. Nothing: it is no such request. Pure: any thread.
/// Source: RFC 9110 section 9.3.6.
[[nodiscard]] std::optional<OutsideTarget> ParseConnect(std::string_view head);

/// Serves one stream until it ends. Names are looked up here, and of their addresses only those that are
/// outside (outside_address.h) are asked, but for targets in `named`. Answers 403 where there are others
/// only, 502 where nothing answers, 503 where the budget has no room for one more. Loop thread; `named` and
/// `connections` outlive it.
boost::asio::awaitable<void> ServeOutside(std::shared_ptr<mux::Stream> stream, const NamedTargets& named,
                                          http::ConnectionBudget& connections);

}  // namespace trainyard::engine
