#pragma once

#include <functional>
#include <string_view>

#include "net/front/google_names.h"
#include "net/http/router.h"

namespace trainyard::front {

class RealBuckets;

/// Whether a request for a real bucket may be passed on; `route` is the one that it would have here, whose
/// parameters it has.
using MayPassOn =
    std::function<http::asio::awaitable<Status>(http::Request& request, std::string_view route)>;

/// Who answers for each service. All outlive the router that is made from them.
struct Services {
  const http::Router& storage;
  const http::Router& api;
  const http::Router& metadata;
  RealBuckets* real_buckets = nullptr;  ///< nullptr: all buckets are ours
  MayPassOn may_pass_on{};              ///< null: all may
};

/// A router that hands each request to the router of its Host field. Loop thread.
[[nodiscard]] http::Router DispatchByHost(Services services);

/// A router that passes on requests for the real buckets and hands all others to `api`. Both outlive it. Loop
/// thread.
[[nodiscard]] http::Router PassOnRealBuckets(const http::Router& api, RealBuckets& real_buckets,
                                             MayPassOn may_pass_on);

}  // namespace trainyard::front
