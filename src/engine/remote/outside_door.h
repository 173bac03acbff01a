#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/name_lookup.h"
#include "net/http/connection_budget.h"
#include "net/mux/session.h"

/// A host that builds reach through the server if their node has no route to the internet: package indexes,
/// image registries.
namespace trainyard::engine {

/// "HOST:PORT" in lower case: the package indexes and registries of images that the operator named, which may
/// be on the site's own networks.
using NamedTargets = std::set<std::string>;

/// Finds the targets in the settings of pip and uv (environment::ToolVariables) and in --image-map, and adds
/// the index that pip and uv use by default: a site's resolver may have its mirror under that name. Pure: any
/// thread. Source: pip's documentation, "index-url", "extra-index-url", "find-links", "trusted-host"; uv's,
/// "UV_INDEX".
[[nodiscard]] NamedTargets FindNamedTargets(
    const std::map<std::string, std::optional<std::string>>& tool_variables,
    const std::vector<std::pair<std::string, std::string>>& image_map);

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
/// thread; `named`, `names` and `connections` outlive it.
boost::asio::awaitable<void> ServeOutside(std::shared_ptr<mux::Stream> stream, const NamedTargets& named,
                                          NameLookup& names, http::ConnectionBudget& connections);

}  // namespace trainyard::engine
