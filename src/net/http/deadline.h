#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>

namespace trainyard::http {

namespace asio = boost::asio;

/// A connection's one deadline, set again for every wait. Moving it later costs nothing: the timer checks
/// when it fires. Loop thread only. After the destructor nothing is called.
class Deadline {
 public:
  Deadline(const asio::any_io_executor& executor, std::function<void()> on_expiry);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  /// From now on; clears expired().
  void Set(std::chrono::steady_clock::duration wait_max);
  void Clear() noexcept;
  /// Whether the deadline that was set last passed before Clear().
  [[nodiscard]] bool expired() const noexcept;

 private:
  struct State;
  static void Arm(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;  // shared: the timer's handler may run after us
};

}  // namespace trainyard::http
