#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <string>
#include <utility>

#include "base/async/on_pool.h"
#include "base/wire/json.h"
#include "net/http/message.h"

/// Long answers, printed off the loop: a thousand rows take some 10 ms to print, and as long to compress.
namespace trainyard::api {

/// The JSON, compressed on `pool` if it is long, the client accepts that, and no system parameter (`fields`)
/// still has to change it.
[[nodiscard]] boost::asio::awaitable<http::Response> Compressed(boost::asio::thread_pool& pool,
                                                                const http::Request& request,
                                                                std::string json);

/// The message as compact JSON. `pool` and `request` outlive the call.
template <class Message>
[[nodiscard]] boost::asio::awaitable<http::Response> Printed(boost::asio::thread_pool& pool,
                                                             const http::Request& request, Message message) {
  const auto shared = std::make_shared<const Message>(std::move(message));
  auto print = [shared] { return wire::PrintJsonCompact(*shared) + "\n"; };
  std::string json = co_await OnPool(pool, std::move(print));
  co_return co_await Compressed(pool, request, std::move(json));
}

}  // namespace trainyard::api
