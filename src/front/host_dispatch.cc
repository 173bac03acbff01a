#include "front/host_dispatch.h"

namespace trainyard::front {

namespace {

using http::Method;
using http::Request;
using http::Response;

const http::Router& RouterFor(const Services& services, const Request& request) {
  switch (ServiceOf(request.host)) {
    case Service::kStorage: return services.storage;
    case Service::kApi: return services.api;
    case Service::kMetadata: return services.metadata;
  }
  return services.metadata;
}

http::asio::awaitable<Result<Response>> Answer(const Services& services, Request& request) {
  TY_CO_TRY(const http::Handler* handler, RouterFor(services, request).Find(request));
  co_return co_await (*handler)(request);
}

}  // namespace

http::Router DispatchByHost(Services services) {
  http::Router router;
  for (const Method method : {Method::kGet, Method::kHead, Method::kPost, Method::kPut, Method::kPatch,
                              Method::kDelete, Method::kOptions}) {
    for (const char* pattern : {"/", "/{rest=**}"}) {
      router.Add(method, pattern, [services](Request& request) { return Answer(services, request); });
    }
  }
  return router;
}

}  // namespace trainyard::front
