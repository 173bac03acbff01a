#include "base/async/task_group.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <memory>
#include <stdexcept>

#include "base/async/event.h"
#include "base/async/on_pool.h"

namespace trainyard {
namespace {

struct CountsItsEnd {
  int& ended;
  ~CountsItsEnd() { ++ended; }
};

asio::awaitable<void> WaitLong(int& ended) {
  const CountsItsEnd counted{ended};
  asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::hours(1));
  co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> EndAtOnce(int& ended) {
  ++ended;
  co_return;
}

TEST(TaskGroup, DestructorCancelsAndJoinsWhenTheLoopDoesNotRun) {
  asio::io_context loop;
  int ended = 0;
  {
    TaskGroup tasks(loop.get_executor());
    tasks.Spawn(WaitLong(ended));
    tasks.Spawn(WaitLong(ended));
    loop.poll();
    EXPECT_EQ(ended, 0);
  }
  EXPECT_EQ(ended, 2);
}

TEST(TaskGroup, DestructorJoinsTasksThatNeverRan) {
  asio::io_context loop;
  int ended = 0;
  {
    TaskGroup tasks(loop.get_executor());
    tasks.Spawn(WaitLong(ended));
  }
  EXPECT_EQ(ended, 1);
}

asio::awaitable<void> SpawnMoreWhenCancelled(TaskGroup& tasks, int& ended) {
  try {
    co_await WaitLong(ended);
  } catch (const boost::system::system_error&) {
    tasks.Spawn(WaitLong(ended));
  }
}

TEST(TaskGroup, DestructorDropsWhatItsTasksSpawn) {
  asio::io_context loop;
  int ended = 0;
  {
    TaskGroup tasks(loop.get_executor());
    tasks.Spawn(SpawnMoreWhenCancelled(tasks, ended));
    loop.poll();
  }
  EXPECT_EQ(ended, 1);
}

asio::awaitable<void> WorkOnPool(asio::thread_pool& pool, int& ended) {
  const CountsItsEnd counted{ended};
  auto work = [] { return 1; };
  for (int i = 0; i < 1'000'000; ++i) co_await OnPool(pool, work);
}

TEST(TaskGroup, DestructorWaitsForWorkOnAPool) {
  asio::io_context loop;
  asio::thread_pool pool(1);
  int ended = 0;
  {
    TaskGroup tasks(loop.get_executor());
    tasks.Spawn(WorkOnPool(pool, ended));
    loop.poll();
  }
  EXPECT_EQ(ended, 1);
}

struct Owner {
  explicit Owner(const asio::any_io_executor& executor) : tasks(executor) {}
  int ended = 0;
  TaskGroup tasks;
};

asio::awaitable<void> CancelJoinAndDestroy(std::unique_ptr<Owner> owner, int& ended) {
  owner->tasks.Spawn(WaitLong(owner->ended));
  owner->tasks.Spawn(EndAtOnce(owner->ended));
  owner->tasks.Cancel();
  co_await owner->tasks.Join();
  ended = owner->ended;
  owner.reset();
}

TEST(TaskGroup, InsideTheLoopTheOwnerJoinsFirst) {
  asio::io_context loop;
  int ended = 0;
  asio::co_spawn(loop, CancelJoinAndDestroy(std::make_unique<Owner>(loop.get_executor()), ended),
                 asio::detached);
  loop.run();
  EXPECT_EQ(ended, 2);
}

TEST(TaskGroup, JoinWaitsForTasksThatEndByThemselves) {
  asio::io_context loop;
  int ended = 0;
  TaskGroup tasks(loop.get_executor());
  tasks.Spawn(EndAtOnce(ended));
  bool joined = false;
  asio::co_spawn(loop, tasks.Join(), [&joined](const std::exception_ptr& exception) { joined = !exception; });
  loop.run();
  EXPECT_TRUE(joined);
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(tasks.size(), 0U);
}

asio::awaitable<void> Throw() {
  throw std::runtime_error("oops");
  co_return;
}

asio::awaitable<void> DestroyWithATaskLeft(std::unique_ptr<Owner> owner) {
  owner->tasks.Spawn(WaitLong(owner->ended));
  owner.reset();
  co_return;
}

TEST(TaskGroupDeathTest, BugsAbort) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        asio::io_context loop;
        TaskGroup tasks(loop.get_executor());
        tasks.Spawn(Throw());
        loop.run();
      },
      "oops");
  EXPECT_DEATH(
      {
        asio::io_context loop;
        asio::co_spawn(loop, DestroyWithATaskLeft(std::make_unique<Owner>(loop.get_executor())),
                       asio::detached);
        loop.run();
      },
      "running_in_this_thread");
}

}  // namespace
}  // namespace trainyard
