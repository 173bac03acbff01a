#include "base/async/loop_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <string>

#include "base/async/event.h"
#include "base/async/on_pool.h"
#include "base/async/task_group.h"
#include "base/async/watched_executor.h"

namespace trainyard {
namespace {

using std::chrono::milliseconds;
using TimePoint = std::chrono::steady_clock::time_point;

/// Keeps the loop's thread for longer than any turn may last in these tests.
void HoldTheLoop() {
  const TimePoint end = std::chrono::steady_clock::now() + milliseconds(2);
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(LoopWatch, CountsTurnsThatWereTooLongByTheirCause) {
  LoopWatch watch(milliseconds(50));
  const TimePoint now{};
  watch.Took("a", milliseconds(50), now);
  EXPECT_TRUE(watch.stalls().empty());
  EXPECT_EQ(watch.longest(), milliseconds(50));
  watch.Took("a", milliseconds(70), now);
  watch.Took("a", milliseconds(60), now);
  watch.Took("b", milliseconds(51), now);
  const std::map<std::string, LoopWatch::Stalls, std::less<>> expected{
      {"a", {.count = 2, .longest = milliseconds(70)}}, {"b", {.count = 1, .longest = milliseconds(51)}}};
  EXPECT_EQ(watch.stalls(), expected);
  EXPECT_EQ(watch.longest(), milliseconds(70));
}

TEST(LoopWatch, SaysTheCauseAtMostEveryTenSeconds) {
  LoopWatch watch(milliseconds(50));
  testing::internal::CaptureStderr();
  for (int second = 0; second < 12; ++second)
    watch.Took("POST /v1/x", milliseconds(70 + second), TimePoint(std::chrono::seconds(second)));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("stood still for 70 ms in POST /v1/x."), std::string::npos) << said;
  EXPECT_NE(said.find("stood still for 80 ms in POST /v1/x; 9 more since"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2) << said;
}

TEST(LoopWatch, CausesAreBounded) {
  LoopWatch watch(milliseconds(50));
  testing::internal::CaptureStderr();
  for (std::size_t i = 0; i < LoopWatch::kCausesMax + 10; ++i)
    watch.Took("cause " + std::to_string(i), milliseconds(51), TimePoint{});
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(watch.stalls().size(), LoopWatch::kCausesMax + 1);
  EXPECT_EQ(watch.stalls().at("other").count, 10);
}

asio::awaitable<void> Work(asio::thread_pool& pool) {
  NameLoopTask("first");
  auto nothing = [] {};
  co_await OnPool(pool, std::move(nothing));
  HoldTheLoop();
  NameLoopTask("second");
  const auto executor = co_await asio::this_coro::executor;
  Event event(executor);
  co_await event.WaitFor(milliseconds(1));
  HoldTheLoop();
}

// The turn gets the name of what it does when it ends; waiting does not count as a turn.
TEST(WatchedExecutor, ACoroutineIsWatchedBehindEveryWait) {
  asio::io_context loop;
  asio::thread_pool pool(1);
  LoopWatch watch(milliseconds(1));
  testing::internal::CaptureStderr();
  {
    TaskGroup tasks(loop.get_executor());
    tasks.Spawn(WatchLoop(loop, &watch, "begun"), Work(pool));
    loop.run();
  }
  testing::internal::GetCapturedStderr();
  ASSERT_TRUE(watch.stalls().contains("second"));
  EXPECT_EQ(watch.stalls().at("second").count, 2);
  EXPECT_GE(watch.longest(), milliseconds(2));
}

TEST(WatchedExecutor, AnInnerTurnIsCountedOnce) {
  LoopWatch watch(milliseconds(1));
  LoopTask outer{.watch = watch, .name = "outer"};
  LoopTask inner{.watch = watch, .name = "inner"};
  testing::internal::CaptureStderr();
  {
    const LoopTurn outer_turn(outer);
    const LoopTurn inner_turn(inner);
    HoldTheLoop();
  }
  testing::internal::GetCapturedStderr();
  EXPECT_TRUE(watch.stalls().contains("inner"));
  EXPECT_FALSE(watch.stalls().contains("outer"));
}

TEST(WatchedExecutor, WithoutAWatchItIsTheLoops) {
  asio::io_context loop;
  EXPECT_EQ(WatchLoop(loop, nullptr, "x"), asio::any_io_executor(loop.get_executor()));
  LoopWatch watch;
  EXPECT_EQ(LoopOf(WatchLoop(loop, &watch, "x")), &loop);
  EXPECT_EQ(LoopOf(loop.get_executor()), &loop);
  asio::thread_pool pool(1);
  EXPECT_EQ(LoopOf(pool.get_executor()), nullptr);
}

}  // namespace
}  // namespace trainyard
