#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace trainyard {

namespace asio = boost::asio;

/// Runs the work on the pool, then resumes the caller on its own executor, whose run() does not return
/// meanwhile. The work may refer to variables in the caller's frame, which lives until the work is done.
asio::awaitable<void> RunOnPool(asio::thread_pool& pool, std::move_only_function<void()> work);

/// OnPool for one type of value, so that the compiler instantiates one coroutine per type and not one per
/// lambda.
template <class Value>
asio::awaitable<Value> ValueOnPool(asio::thread_pool& pool, std::move_only_function<Value()> work) {
  std::optional<Value> value;
  std::move_only_function<void()> keep = [&value, &work] { value.emplace(work()); };
  co_await RunOnPool(pool, std::move(keep));
  co_return *std::move(value);
}
extern template asio::awaitable<Status> ValueOnPool(asio::thread_pool&, std::move_only_function<Status()>);
extern template asio::awaitable<bool> ValueOnPool(asio::thread_pool&, std::move_only_function<bool()>);

/// Runs blocking work on a named pool and resumes the caller on its own executor with what the work returned
/// (an exception from a library is rethrown there). The work takes and returns values: it never touches loop
/// state. Cancelling the caller does not interrupt the work: the caller resumes when the work is done and
/// unwinds at its next co_await. The pool outlives the call.
template <class F>
asio::awaitable<std::invoke_result_t<F&>> OnPool(asio::thread_pool& pool, F work) {
  using Value = std::invoke_result_t<F&>;
  if constexpr (std::is_void_v<Value>) {
    return RunOnPool(pool, std::move(work));
  } else {
    return ValueOnPool<Value>(pool, std::move(work));
  }
}

}  // namespace trainyard
