#pragma once

#include "front/google_names.h"
#include "http/router.h"

namespace trainyard::front {

class RealBuckets;

/// Who answers for each service. All outlive the router that is made from them.
struct Services {
  const http::Router& storage;
  const http::Router& api;
  const http::Router& metadata;
  RealBuckets* real_buckets = nullptr;  ///< nullptr: all buckets are ours
};

/// A router that hands each request to the router of its Host field. Loop thread.
[[nodiscard]] http::Router DispatchByHost(Services services);

/// A router that passes on requests for the real buckets and hands all others to `api`. Both outlive it. Loop
/// thread.
[[nodiscard]] http::Router PassOnRealBuckets(const http::Router& api, RealBuckets& real_buckets);

}  // namespace trainyard::front
