#pragma once

#include <string_view>

#include "net/http/router.h"

namespace trainyard::access {
class Door;
}  // namespace trainyard::access

namespace trainyard::front {

class RealBuckets;

/// The service that a host name leads to.
enum class Service {
  kStorage,   ///< Cloud Storage: the JSON API and the XML API's object paths
  kApi,       ///< the JSON APIs that replicas may use
  kVertex,    ///< Vertex AI, whose paths are below kVertexPrefix in the routers of the JSON APIs
  kMetadata,  ///< the metadata server and the token endpoint
};

/// The prefix of Vertex AI's paths where its host name does not tell them apart from ml v1's.
inline constexpr std::string_view kVertexPrefix = "/aiplatform";

/// @param host  a Host field; port and case are ignored. Any other name is the metadata server's: each
/// replica has its own name for it.
[[nodiscard]] Service ServiceOf(std::string_view host) noexcept;

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
