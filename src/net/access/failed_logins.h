#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include "base/clock.h"

namespace trainyard::access {

/// Computes how long the refusal of a bad token is delayed, so that tokens cannot be guessed quickly. Only
/// failures are delayed, and only for addresses with more than kFree failures within kWindow; requests with a
/// valid token never wait. A value; loop thread or any one thread. Source: shared decisions, "Who is asking".
class FailedLogins {
 public:
  static constexpr int kFree = 20;
  static constexpr std::chrono::seconds kWindow{60};
  static constexpr std::chrono::milliseconds kPause{500};  ///< delay of the first one; doubles each time
  static constexpr std::chrono::milliseconds kPauseMax{8'000};
  static constexpr std::size_t kAddressesMax = 10'000;  ///< remembered; then the oldest is forgotten

  /// Records a failure from the address. Returns the delay of its response.
  [[nodiscard]] std::chrono::milliseconds Add(const std::string& address, SysTime now);

 private:
  struct Count {
    SysTime since;
    int failures = 0;
  };
  void MakeRoom(SysTime now);
  std::map<std::string, Count> by_address_;
};

/// Records a failure from the address and returns once its refusal may be sent.
[[nodiscard]] boost::asio::awaitable<void> SlowDown(FailedLogins& failed, std::string address, SysTime now);

}  // namespace trainyard::access
