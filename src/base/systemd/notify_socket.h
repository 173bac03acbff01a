#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

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

}  // namespace trainyard::systemd
