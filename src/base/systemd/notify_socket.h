#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"

/// Sends the service's state to the service manager, without libsystemd. Any thread. Source: sd_notify(3).
namespace trainyard::systemd {

inline constexpr std::string_view kNotifyReady = "READY=1";
inline constexpr std::string_view kNotifyStopping = "STOPPING=1";
inline constexpr std::string_view kNotifyWatchdog = "WATCHDOG=1";
/// The current start or stop may take this much longer, counted from now.
[[nodiscard]] std::string NotifyExtend(std::chrono::microseconds more);
/// Asks the manager to keep the descriptors of the message under this name for the next start of the service.
[[nodiscard]] std::string NotifyStore(std::string_view name);

/// Sends one state, or several on one line each, to $NOTIFY_SOCKET ("@": abstract). Without that variable it
/// does nothing and succeeds. kUnavailable: no process listens there. Blocks only while the manager's queue
/// is full.
[[nodiscard]] Status Notify(std::string_view state, std::span<const int> descriptors = {});

/// Prevents a timeout of a slow start: while an object of this class lives, it repeatedly asks the service
/// manager for more time ("EXTEND_TIMEOUT_USEC", sd_notify(3)), from its own thread, because the start
/// blocks. It stops after kWaitMax, so the manager ends a start that hangs. Without a manager it has no
/// effect.
class StartExtension {
 public:
  static constexpr std::chrono::seconds kPeriod{5};      ///< between two requests
  static constexpr std::chrono::seconds kExtension{30};  ///< time requested by each
  static constexpr std::chrono::minutes kWaitMax{60};    ///< enough to migrate databases of many gigabytes

  StartExtension();
  StartExtension(const StartExtension&) = delete;
  StartExtension& operator=(const StartExtension&) = delete;
  /// Joins the thread.
  ~StartExtension() = default;

 private:
  void Extend(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;  ///< last: it uses the others
};

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

/// Files that the server can reload while it runs: `trainyard admin reload`, the unit's ExecReload. Loop
/// thread only; a hook may block as long as reading a small file takes.
class ReloadHooks {
 public:
  /// `hook` must replace the state completely, or keep the old one and return the reason. `what`: "the
  /// certificate".
  void Add(std::string what, std::function<Status()> hook) {
    hooks_.emplace_back(std::move(what), std::move(hook));
  }

  /// Runs all hooks, also after one fails, and returns the names of what was reloaded. kFailedPrecondition
  /// names what was not, each with its reason.
  [[nodiscard]] Result<std::vector<std::string>> RunAll() const;

 private:
  std::vector<std::pair<std::string, std::function<Status()>>> hooks_;
};

}  // namespace trainyard::systemd
