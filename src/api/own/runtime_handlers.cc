#include <utility>

#include "api/own/own_handlers.h"
#include "base/async/on_pool.h"
#include "base/wire/json.h"

namespace trainyard::api {

namespace {}  // namespace

boost::asio::awaitable<Result<http::Response>> ListRuntimes(const RuntimeSource& source, http::Request&) {
  auto list = source.list;
  const control::v1::RuntimeList runtimes = co_await OnPool(source.pool, std::move(list));
  co_return http::Response::Json(wire::PrintJson(runtimes));
}

}  // namespace trainyard::api
