#include "net/front/host_dispatch.h"

#include <algorithm>

#include "base/ascii.h"
#include "net/access/door.h"
#include "net/front/google_names.h"
#include "net/front/real_buckets.h"

namespace trainyard::front {

namespace {

using http::Method;
using http::Request;
using http::Response;

const http::Router& RouterFor(const Services& services, Service service) {
  switch (service) {
    case Service::kStorage: return services.storage;
    case Service::kApi:
    case Service::kVertex: return services.api;
    case Service::kMetadata: return services.metadata;
  }
  return services.metadata;
}

using Answer = http::asio::awaitable<Result<Response>>;

Answer HandTo(const http::Router& router, Request& request) {
  TY_CO_TRY(const http::Handler* handler, router.Find(request));
  co_return co_await (*handler)(request);
}

/// A request without a route here is not a request of storage.
Answer Forward(const http::Router& api, RealBuckets& real_buckets, access::Door* door, Request& request) {
  if (door != nullptr) {
    TY_CO_TRY(const http::Router::RouteInfo route, api.FindRoute(request));
    TY_CO_RETURN_IF_ERROR(co_await door->Check(request, route.name));
  }
  co_return co_await real_buckets.Forward(request);
}

Answer ByHost(const Services& services, Request& request) {
  const Service service = ServiceOf(request.host);
  if (services.real_buckets != nullptr && service != Service::kMetadata &&
      services.real_buckets->Has(request, service == Service::kStorage)) {
    co_return co_await Forward(RouterFor(services, service), *services.real_buckets, services.door, request);
  }
  if (service == Service::kVertex) request.path.insert(0, kVertexPrefix);
  co_return co_await HandTo(RouterFor(services, service), request);
}

Answer PassOn(const http::Router& api, RealBuckets& real_buckets, access::Door* door, Request& request) {
  if (real_buckets.Has(request, false)) co_return co_await Forward(api, real_buckets, door, request);
  co_return co_await HandTo(api, request);
}

/// One handler for every method and path.
http::Router Everything(const http::Handler& handler) {
  http::Router router;
  for (const Method method : {Method::kGet, Method::kHead, Method::kPost, Method::kPut, Method::kPatch,
                              Method::kDelete, Method::kOptions}) {
    for (const char* pattern : {"/", "/{rest=**}"}) router.Add(method, pattern, handler);
  }
  return router;
}

}  // namespace

Service ServiceOf(std::string_view host) noexcept {
  host = host.substr(0, host.rfind(':'));
  if (EqualsIgnoringCase(host, kStorageHost)) return Service::kStorage;
  for (const std::string_view api :
       {std::string_view("www.googleapis.com"), std::string_view("ml.googleapis.com"),
        std::string_view("logging.googleapis.com"), kStudiesHost, kTpuHost}) {
    if (EqualsIgnoringCase(host, api)) return Service::kApi;
  }
  if (IsVertexHost(host)) return Service::kVertex;
  const auto is_host = [host](std::string_view name) { return EqualsIgnoringCase(host, name); };
  return std::ranges::any_of(kUsersHosts, is_host) ? Service::kApi : Service::kMetadata;
}

http::Router DispatchByHost(Services services) {
  return Everything([services](Request& request) { return ByHost(services, request); });
}

http::Router PassOnRealBuckets(const http::Router& api, RealBuckets& real_buckets, access::Door* door) {
  return Everything(
      [&api, &real_buckets, door](Request& request) { return PassOn(api, real_buckets, door, request); });
}

}  // namespace trainyard::front
