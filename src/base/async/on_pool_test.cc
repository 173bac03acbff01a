#include "base/async/on_pool.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/result.h"

namespace trainyard {
namespace {

struct Seen {
  std::thread::id work_thread;
  std::thread::id resumed_thread;
  std::string value;
  std::string exception;
};

asio::awaitable<void> Call(asio::thread_pool& pool, Seen& seen) {
  auto work = [&seen,
               text = std::make_unique<std::string>("done")]() -> Result<std::unique_ptr<std::string>> {
    seen.work_thread = std::this_thread::get_id();
    return std::make_unique<std::string>(*text);
  };
  auto result = co_await OnPool(pool, std::move(work));
  seen.resumed_thread = std::this_thread::get_id();
  if (result) seen.value = **result;
}

TEST(OnPool, RunsOnThePoolAndResumesOnTheLoop) {
  asio::io_context loop;
  asio::thread_pool pool(1);
  Seen seen;
  asio::co_spawn(loop, Call(pool, seen), asio::detached);
  loop.run();
  EXPECT_EQ(seen.value, "done");
  EXPECT_EQ(seen.resumed_thread, std::this_thread::get_id());
  EXPECT_NE(seen.work_thread, std::this_thread::get_id());
}

asio::awaitable<void> CallThrowing(asio::thread_pool& pool, Seen& seen) {
  auto work = []() -> void { throw std::runtime_error("library failure"); };
  try {
    co_await OnPool(pool, work);
  } catch (const std::runtime_error& error) {
    seen.exception = error.what();
    seen.resumed_thread = std::this_thread::get_id();
  }
}

TEST(OnPool, BringsALibrarysExceptionToTheCaller) {
  asio::io_context loop;
  asio::thread_pool pool(1);
  Seen seen;
  asio::co_spawn(loop, CallThrowing(pool, seen), asio::detached);
  loop.run();
  EXPECT_EQ(seen.exception, "library failure");
  EXPECT_EQ(seen.resumed_thread, std::this_thread::get_id());
}

}  // namespace
}  // namespace trainyard
