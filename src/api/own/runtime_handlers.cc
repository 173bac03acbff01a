#include <utility>

#include "api/own/extension_handlers.h"
#include "base/async/on_pool.h"
#include "base/wire/json.h"

namespace trainyard::api {

namespace {

boost::asio::awaitable<Result<http::Response>> List(RuntimeSource source) {
  const control::v1::RuntimeList runtimes = co_await OnPool(source.pool, std::move(source.list));
  co_return http::Response::Json(wire::PrintJson(runtimes));
}

}  // namespace

void AddRuntimeRoutes(http::Router& router, RuntimeSource source) {
  router.Add(http::Method::kGet, "/trainyard/v1/runtimes",
             [source = std::move(source)](http::Request&) { return List(source); });
}

}  // namespace trainyard::api
