#include "base/async/on_pool.h"

#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <exception>

namespace trainyard {

namespace {

std::exception_ptr Run(std::move_only_function<void()>& work) {
  try {
    work();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

struct Initiate {
  asio::thread_pool* pool;
  std::move_only_function<void()> work;

  template <class Handler>
  void operator()(Handler handler) {
    auto guard = asio::make_work_guard(asio::get_associated_executor(handler));
    auto on_pool = [work = std::move(work), handler = std::move(handler),
                    guard = std::move(guard)]() mutable {
      std::exception_ptr exception = Run(work);
      auto executor = guard.get_executor();
      asio::post(executor, [handler = std::move(handler), exception = std::move(exception)]() mutable {
        std::move(handler)(std::move(exception));
      });
    };
    asio::post(*pool, std::move(on_pool));
  }
};

}  // namespace

asio::awaitable<void> RunOnPool(asio::thread_pool& pool, std::move_only_function<void()> work) {
  Initiate initiate{&pool, std::move(work)};
  co_await asio::async_initiate<const asio::use_awaitable_t<>&, void(std::exception_ptr)>(
      std::move(initiate), asio::use_awaitable);
}

template asio::awaitable<Status> ValueOnPool(asio::thread_pool&, std::move_only_function<Status()>);
template asio::awaitable<bool> ValueOnPool(asio::thread_pool&, std::move_only_function<bool()>);

}  // namespace trainyard
