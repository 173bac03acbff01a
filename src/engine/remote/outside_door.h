#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/remote/named_targets.h"
#include "net/http/connection_budget.h"
#include "net/mux/session.h"

/// A host that builds reach through the server if their node has no route to the internet: package indexes,
/// image registries.
namespace trainyard::engine {

struct OutsideTarget {
  std::string host;
  std::string port;
  friend bool operator==(const OutsideTarget&, const OutsideTarget&) = default;
};

/// Parses the head of "CONNECT example.com:443 HTTP/1.1" with its header fields. Empty: it is no such
/// request. Pure: any thread. Source: RFC 9110 section 9.3.6.
[[nodiscard]] std::optional<OutsideTarget> ParseConnect(std::string_view head);

/// Serves one stream until it ends. The target's name is resolved here; unless the target is in `named`, it
/// connects only to addresses that are outside (outside_address.h). Answers 403 if there are no such
/// addresses, 502 if none of them can be reached, 503 if the budget allows no further connection. Loop
/// thread; `named` and `connections` outlive it.
boost::asio::awaitable<void> ServeOutside(std::shared_ptr<mux::Stream> stream, const NamedTargets& named,
                                          http::ConnectionBudget& connections);

}  // namespace trainyard::engine
