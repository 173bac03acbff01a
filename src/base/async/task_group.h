#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>

namespace trainyard {

namespace asio = boost::asio;

/// Owns coroutines that use their owner's members. Declare it as the owner's LAST member, so that it is
/// destroyed first. Loop thread only.
///
/// The destructor cancels the tasks and joins them; it cannot co_await, so:
/// - Outside the loop (run() has returned or was never called, as when a server ends) it runs the loop until
///   the tasks have ended; tasks that they spawn meanwhile are dropped.
/// - Inside the loop (in a handler or coroutine) the owner must have awaited Join() before; a CHECK fails
///   if a task is left.
///
/// A task that is cancelled unwinds with asio's operation_aborted from its co_await, which the group
/// swallows. Any other exception that leaves a task is a bug: it is printed and the process aborts.
class TaskGroup {
 public:
  explicit TaskGroup(asio::any_io_executor executor);
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  /// Starts a task. It may run up to its first wait before Spawn returns.
  void Spawn(asio::awaitable<void> task);
  /// Starts a task on another executor of the same loop (WatchLoop).
  void Spawn(const asio::any_io_executor& executor, asio::awaitable<void> task);
  /// Asks all running tasks to end; they do so at their current or next wait. The group stays usable.
  void Cancel();
  /// Returns when no task is left. A task of this group must not call it.
  asio::awaitable<void> Join();
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  struct State;
  std::shared_ptr<State>
      state_;  // shared: completion handlers may be destroyed with the io_context, after the group
};

}  // namespace trainyard
