#include "base/async/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/async/task_group.h"

namespace trainyard {
namespace {

using std::chrono::hours;
using testing::ElementsAre;

struct Crowd {
  asio::io_context loop;
  Turns turns{loop.get_executor(), 2};
  std::vector<std::string> had;
  std::size_t most = 0;
  TaskGroup tasks{loop.get_executor()};
};

asio::awaitable<void> HaveTurns(Crowd& crowd, std::string name, int count) {
  Turns::Waiter waiter(crowd.turns);
  for (int i = 0; i < count; ++i) {
    waiter.Want();
    EXPECT_TRUE(co_await waiter.WaitFor(hours(1)));
    crowd.most = std::max(crowd.most, crowd.turns.under_way());
    crowd.had.push_back(name);
    co_await asio::post(crowd.loop, asio::use_awaitable);
    waiter.Done();
  }
}

TEST(Turns, AFewAtATimeInTheOrderInWhichTheyAsked) {
  Crowd crowd;
  for (const char* name : {"a", "b", "c", "d", "e"}) crowd.tasks.Spawn(HaveTurns(crowd, name, 2));
  crowd.loop.run();
  EXPECT_THAT(crowd.had, ElementsAre("a", "b", "c", "d", "e", "a", "b", "c", "d", "e"));
  EXPECT_EQ(crowd.most, 2U);
  EXPECT_EQ(crowd.turns.under_way(), 0U);
  EXPECT_EQ(crowd.turns.queued(), 0U);
}

asio::awaitable<void> CountPasses(Crowd& crowd, std::size_t& had_at_the_end) {
  for (int pass = 0; pass < 10; ++pass) co_await asio::post(crowd.loop, asio::use_awaitable);
  had_at_the_end = crowd.had.size();
}

// The purpose of the class: ten trips through the loop take as long as some twenty turns, not as long as a
// thousand.
TEST(Turns, WhoElseUsesTheLoopWaitsForAFewOnly) {
  Crowd crowd;
  std::size_t had = 0;
  for (int i = 0; i < 1'000; ++i) crowd.tasks.Spawn(HaveTurns(crowd, "x", 1));
  crowd.tasks.Spawn(CountPasses(crowd, had));
  crowd.loop.run();
  EXPECT_LE(had, 30U);
  EXPECT_EQ(crowd.had.size(), 1'000U);
}

asio::awaitable<void> WaitInVain(Turns& turns, std::vector<bool>& outcomes) {
  Turns::Waiter waiter(turns);
  outcomes.push_back(co_await waiter.WaitFor(std::chrono::milliseconds(1)));
  waiter.Want();  // it is removed from the queue: WaitFor is not running
  outcomes.push_back(turns.queued() == 0);
  outcomes.push_back(co_await waiter.WaitFor(hours(1)));
}

TEST(Turns, ATurnThatNobodyWaitsForIsKeptInMind) {
  Crowd crowd;
  std::vector<bool> outcomes;
  crowd.tasks.Spawn(WaitInVain(crowd.turns, outcomes));
  crowd.loop.run();
  EXPECT_THAT(outcomes, ElementsAre(false, true, true));
}

asio::awaitable<void> HoldTurn(Turns& turns) {
  Turns::Waiter waiter(turns);
  waiter.Want();
  co_await waiter.WaitFor(hours(1));
  waiter.Want();
  Event never(co_await asio::this_coro::executor);
  co_await never.Wait();
}

TEST(Turns, WhoIsCancelledGivesItsTurnBack) {
  Crowd crowd;
  TaskGroup holders(crowd.loop.get_executor());
  for (int i = 0; i < 10; ++i) holders.Spawn(HoldTurn(crowd.turns));
  crowd.tasks.Spawn(HaveTurns(crowd, "a", 1));
  crowd.loop.poll();
  EXPECT_TRUE(crowd.had.empty());
  holders.Cancel();
  crowd.loop.restart();
  crowd.loop.run();
  EXPECT_THAT(crowd.had, ElementsAre("a"));
  EXPECT_EQ(crowd.turns.under_way(), 0U);
}

}  // namespace
}  // namespace trainyard
