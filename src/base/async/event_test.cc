#include "base/async/event.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "base/async/task_group.h"

namespace trainyard {
namespace {

using std::chrono::milliseconds;

asio::awaitable<void> WaitAndNote(Event& event, std::string name, std::vector<std::string>& notes) {
  co_await event.Wait();
  notes.push_back(std::move(name));
}

asio::awaitable<void> WaitForAndNote(Event& event, milliseconds wait_max, std::vector<std::string>& notes) {
  const bool set = co_await event.WaitFor(wait_max);
  notes.emplace_back(set ? "set" : "late");
}

asio::awaitable<void> SetAndReset(Event& event) {
  event.Set();
  event.Reset();
  co_return;
}

TEST(Event, SetWakesEveryWaiterEvenWhenResetFollows) {
  asio::io_context loop;
  Event event(loop.get_executor());
  std::vector<std::string> notes;
  TaskGroup tasks(loop.get_executor());
  tasks.Spawn(WaitAndNote(event, "a", notes));
  tasks.Spawn(WaitAndNote(event, "b", notes));
  tasks.Spawn(SetAndReset(event));
  loop.run();
  EXPECT_EQ(notes, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(event.IsSet());
}

TEST(Event, StaysSet) {
  asio::io_context loop;
  Event event(loop.get_executor());
  event.Set();
  std::vector<std::string> notes;
  TaskGroup tasks(loop.get_executor());
  tasks.Spawn(WaitForAndNote(event, milliseconds(0), notes));
  loop.run();
  EXPECT_EQ(notes, std::vector<std::string>{"set"});
}

TEST(Event, WaitForEndsAtTheDeadline) {
  asio::io_context loop;
  Event event(loop.get_executor());
  std::vector<std::string> notes;
  TaskGroup tasks(loop.get_executor());
  tasks.Spawn(WaitForAndNote(event, milliseconds(1), notes));
  loop.run();
  EXPECT_EQ(notes, std::vector<std::string>{"late"});
}

asio::awaitable<void> NoteCancellation(Event& event, std::vector<std::string>& notes) {
  try {
    co_await event.WaitFor(std::chrono::hours(1));
    notes.emplace_back("returned");
  } catch (const boost::system::system_error& error) {
    notes.emplace_back(error.code() == asio::error::operation_aborted ? "aborted" : "other");
  }
}

TEST(Event, CancelledWaiterUnwinds) {
  asio::io_context loop;
  Event event(loop.get_executor());
  std::vector<std::string> notes;
  TaskGroup tasks(loop.get_executor());
  tasks.Spawn(NoteCancellation(event, notes));
  loop.poll();
  tasks.Cancel();
  loop.run();
  EXPECT_EQ(notes, std::vector<std::string>{"aborted"});
}

}  // namespace
}  // namespace trainyard
