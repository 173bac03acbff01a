#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <string>
#include <utility>

#include "base/async/diagnostics.h"

namespace trainyard::control {

/// Waits, on the caller's executor, before a failed step is retried. Unwinds when cancelled.
inline boost::asio::awaitable<void> Pause(std::chrono::milliseconds duration) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, duration);
  co_await timer.async_wait(boost::asio::use_awaitable);
}

/// Why something that is retried again and again fails: logged once for as long as the reason stays the same.
/// Loop thread only.
class Trouble {
 public:
  void Say(DiagnosticLevel level, std::string text) {
    const bool is_new = text != said_;
    Diagnose(is_new ? level : DiagnosticLevel::kDebug, text);
    said_ = std::move(text);
  }

 private:
  std::string said_;
};

}  // namespace trainyard::control
