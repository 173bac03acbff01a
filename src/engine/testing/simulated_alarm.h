#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

namespace trainyard::engine {

/// For simulations: calls a function at a time that is set again and again. Loop thread only.
class SimulatedAlarm final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  SimulatedAlarm(boost::asio::any_io_executor loop, std::function<void()> ring)
      : timer_(std::move(loop)), ring_(std::move(ring)) {}

  /// max(): never.
  void Set(Time time) {
    if (time == time_) return;
    time_ = time;
    if (time == Time::max()) {
      timer_.cancel();
      return;
    }
    timer_.expires_at(time);
    timer_.async_wait([this, weak = std::weak_ptr<bool>(lives_)](const boost::system::error_code& error) {
      if (weak.expired() || error) return;
      time_ = Time::max();
      ring_();
    });
  }

 private:
  boost::asio::steady_timer timer_;
  std::function<void()> ring_;
  Time time_ = Time::max();
  std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);  ///< its handlers may outlive it
};

}  // namespace trainyard::engine
