#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "base/check.h"

namespace trainyard::engine {

/// A loop for tests: runs one coroutine at a time to its end, and other ready work with it.
class Loop {
 public:
  template <class T>
  T Run(boost::asio::awaitable<T> task) {
    std::optional<T> result;
    boost::asio::co_spawn(context, std::move(task), [&result](const std::exception_ptr& exception, T value) {
      TY_CHECK(!exception);
      result.emplace(std::move(value));
    });
    TY_CHECK(RunUntil([&result] { return result.has_value(); }));
    return *std::move(result);
  }

  /// Runs the loop until `done` returns true; false after `wait_max`.
  bool RunUntil(const std::function<bool()>& done, std::chrono::seconds wait_max = std::chrono::seconds(20)) {
    const auto deadline = std::chrono::steady_clock::now() + wait_max;
    context.restart();
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      context.run_one_for(std::chrono::milliseconds(50));
      if (context.stopped()) context.restart();
    }
    return true;
  }

  /// Runs everything that is ready, and what becomes ready by it.
  void Poll() {
    context.restart();
    context.poll();
  }

  boost::asio::io_context context{1};
};

}  // namespace trainyard::engine
