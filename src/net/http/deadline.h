#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>

namespace trainyard::http {

namespace asio = boost::asio;

/// The deadline of a connection's current wait. Extending it is cheap: the timer is only checked when it
/// fires. Loop thread only. `on_expiry` is not called after the destructor.
class Deadline {
 public:
  Deadline(const asio::any_io_executor& executor, std::function<void()> on_expiry);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  /// Starts a deadline `wait_max` from now; clears expired().
  void Set(std::chrono::steady_clock::duration wait_max);
  void Clear() noexcept;
  /// Whether the latest deadline passed before Clear().
  [[nodiscard]] bool expired() const noexcept;

 private:
  struct State;
  static void Arm(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;  // shared: the timer's handler may run after the destructor
};

}  // namespace trainyard::http
