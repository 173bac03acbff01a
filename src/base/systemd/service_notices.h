#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <optional>
#include <string>

namespace trainyard::systemd {

/// Tells the service manager about the server: that it is ready, that it is stopping, and that its loop still
/// runs. Without a manager all of this has no effect. Loop thread, or before there are other threads.
class ServiceNotices {
 public:
  /// Reads the manager's requests from the environment and removes them there. Call it before this process
  /// starts threads or programs.
  ServiceNotices();

  /// Sets what `systemctl status` shows during the start.
  static void Starting(const std::string& what);
  /// The server is ready. `systemctl start` returns.
  static void Ready(const std::string& url);
  static void Stopping();

  /// Sends watchdog messages from the loop, at half the manager's watchdog interval (sd_watchdog_enabled(3)),
  /// until the loop ends. Returns at once if the manager has no watchdog.
  [[nodiscard]] boost::asio::awaitable<void> FeedWatchdog() const;

 private:
  std::optional<std::chrono::microseconds> watchdog_;
};

}  // namespace trainyard::systemd
