#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace trainyard {

namespace asio = boost::asio;

namespace on_pool_internal {

template <class F>
struct Outcome {
  using Value = std::invoke_result_t<F>;
  std::exception_ptr exception;
  std::optional<std::conditional_t<std::is_void_v<Value>, bool, Value>> value;

  explicit Outcome(F& work) {
    try {
      if constexpr (std::is_void_v<Value>) {
        work();
        value = true;
      } else {
        value.emplace(work());
      }
    } catch (...) {
      exception = std::current_exception();
    }
  }
};

/// Runs the work on the pool, then resumes the handler on its own executor, which it keeps busy meanwhile.
template <class F>
struct Initiate {
  asio::thread_pool* pool;
  F work;

  template <class Handler>
  void operator()(Handler handler) {
    auto guard = asio::make_work_guard(asio::get_associated_executor(handler));
    auto on_pool = [work = std::move(work), handler = std::move(handler),
                    guard = std::move(guard)]() mutable {
      Outcome<F> outcome(work);
      auto executor = guard.get_executor();
      asio::post(executor, [handler = std::move(handler), outcome = std::move(outcome)]() mutable {
        std::move(handler)(std::move(outcome.exception), std::move(outcome.value));
      });
    };
    asio::post(*pool, std::move(on_pool));
  }
};

}  // namespace on_pool_internal

/// Runs blocking work on a named pool and resumes the caller on its own executor with what the work returned
/// (an exception of a library is thrown again there). The work takes and returns values: it never touches
/// loop state. Cancelling the caller does not interrupt the work: the caller resumes when the work is done
/// and unwinds at its next co_await. The pool outlives the call.
template <class F>
asio::awaitable<std::invoke_result_t<F>> OnPool(asio::thread_pool& pool, F work) {
  using Outcome = on_pool_internal::Outcome<F>;
  on_pool_internal::Initiate<F> initiate{&pool, std::move(work)};
  using Signature = void(std::exception_ptr, decltype(Outcome::value));
  auto value = co_await asio::async_initiate<const asio::use_awaitable_t<>&, Signature>(std::move(initiate),
                                                                                        asio::use_awaitable);
  if constexpr (!std::is_void_v<std::invoke_result_t<F>>) co_return *std::move(value);
}

}  // namespace trainyard
