#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <optional>
#include <string>

namespace trainyard::systemd {

/// What the service manager is told of a server: that it answers, that it ends, and that its loop still
/// turns. Without a manager all of this has no effect. Loop thread, or before there are others.
class ServiceNotices {
 public:
  /// Takes what the manager asks for out of the environment. Before there are threads, or programs started by
  /// this process.
  ServiceNotices();

  /// What `systemctl status` shows while a start takes its time.
  static void Starting(const std::string& what);
  /// The server answers. `systemctl start` returns.
  static void Ready(const std::string& url);
  static void Stopping();

  /// Says from the loop that it turns, twice in the time that the manager waits for it
  /// (sd_watchdog_enabled(3)), until the loop ends. Returns at once if the manager waits for nothing.
  [[nodiscard]] boost::asio::awaitable<void> FeedWatchdog() const;

 private:
  std::optional<std::chrono::microseconds> watchdog_;
};

}  // namespace trainyard::systemd
