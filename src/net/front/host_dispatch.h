#pragma once

#include "net/front/google_names.h"
#include "net/http/router.h"

namespace trainyard::access {
class Door;
}  // namespace trainyard::access

namespace trainyard::front {

class RealBuckets;

/// The router of each service. All outlive the router that is made from them.
struct Services {
  const http::Router& storage;
  const http::Router& api;
  const http::Router& metadata;
  RealBuckets* real_buckets = nullptr;  ///< nullptr: all buckets are ours
  access::Door* door = nullptr;         ///< checks requests for real buckets; nullptr: all are allowed
};

/// A router that dispatches each request by its Host field. Loop thread.
[[nodiscard]] http::Router DispatchByHost(Services services);

/// A router that forwards requests for the real buckets and dispatches all others to `api`. All outlive it;
/// `door` as in Services. Loop thread.
[[nodiscard]] http::Router PassOnRealBuckets(const http::Router& api, RealBuckets& real_buckets,
                                             access::Door* door);

}  // namespace trainyard::front
