#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include "base/clock.h"

namespace trainyard::access {

/// How long the refusal of a bad token is held back, so that nobody tries tokens quickly. Only failures are
/// slowed, and only those of an address that has had kFree of them within kWindow: who shows a valid token
/// never waits. A value; loop thread or any one thread. Source: shared decisions, "Who is asking".
class FailedLogins {
 public:
  static constexpr int kFree = 20;
  static constexpr std::chrono::seconds kWindow{60};
  static constexpr std::chrono::milliseconds kPause{500};  ///< of the first that is slowed; then twice
  static constexpr std::chrono::milliseconds kPauseMax{8'000};
  static constexpr std::size_t kAddressesMax = 10'000;  ///< remembered; then the oldest is forgotten

  /// One more failure from the address. Returns how long its answer is to wait.
  [[nodiscard]] std::chrono::milliseconds Add(const std::string& address, SysTime now);

 private:
  struct Count {
    SysTime since;
    int failures = 0;
  };
  void MakeRoom(SysTime now);
  std::map<std::string, Count> by_address_;
};

/// One more failure from the address: returns when its refusal may be sent.
[[nodiscard]] boost::asio::awaitable<void> SlowDown(FailedLogins& failed, std::string address, SysTime now);

}  // namespace trainyard::access
