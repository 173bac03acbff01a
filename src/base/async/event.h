#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>

namespace trainyard {

namespace asio = boost::asio;

/// A flag that coroutines wait for. Stays set until Reset(). Loop thread only. Must outlive its waiters.
/// A waiter whose task is cancelled unwinds with asio's operation_aborted.
class Event {
 public:
  explicit Event(asio::any_io_executor executor);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Wakes everyone who waits now, even if Reset() follows at once.
  void Set();
  void Reset() noexcept;
  [[nodiscard]] bool IsSet() const noexcept;
  /// Returns at once if the flag is set.
  asio::awaitable<void> Wait();
  /// Waits for at most `duration_max`. False: the flag was not set in that time.
  asio::awaitable<bool> WaitFor(std::chrono::steady_clock::duration duration_max);

 private:
  struct State;
  std::shared_ptr<State>
      state_;  // shared: a waiter's frame may be destroyed with the io_context, after the event
};

}  // namespace trainyard
