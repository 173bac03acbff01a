#pragma once

#include <functional>
#include <string_view>

#include "net/front/google_names.h"
#include "net/http/router.h"

namespace trainyard::front {

class RealBuckets;

/// Whether a request for a real bucket may be forwarded. `route` is the route that the request would have
/// here; the request has the parameters of this route.
using MayPassOn =
    std::function<http::asio::awaitable<Status>(http::Request& request, std::string_view route)>;

/// The router of each service. All outlive the router that is made from them.
struct Services {
  const http::Router& storage;
  const http::Router& api;
  const http::Router& metadata;
  RealBuckets* real_buckets = nullptr;  ///< nullptr: all buckets are ours
  MayPassOn may_pass_on{};              ///< null: all requests may
};

/// A router that dispatches each request by its Host field. Loop thread.
[[nodiscard]] http::Router DispatchByHost(Services services);

/// A router that forwards requests for the real buckets and dispatches all others to `api`. Both outlive it.
/// Loop thread.
[[nodiscard]] http::Router PassOnRealBuckets(const http::Router& api, RealBuckets& real_buckets,
                                             MayPassOn may_pass_on);

}  // namespace trainyard::front
