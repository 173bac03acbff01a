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

/// Telling the service manager how we are, without libsystemd. Any thread. Source: sd_notify(3).

namespace trainyard::systemd {

inline constexpr std::string_view kNotifyReady = "READY=1";
inline constexpr std::string_view kNotifyStopping = "STOPPING=1";
inline constexpr std::string_view kNotifyWatchdog = "WATCHDOG=1";
/// The present start or stop may take this much longer, counted from now.
[[nodiscard]] std::string NotifyExtend(std::chrono::microseconds more);
/// The descriptors that go with it are kept for the next start of this service, under that name.
[[nodiscard]] std::string NotifyStore(std::string_view name);

/// Sends one state, or several on a line each, to $NOTIFY_SOCKET ("@": abstract). Without that variable there
/// is nobody to tell: success. kUnavailable: nobody listens there. Does not block for longer than the
/// manager's queue is full.
[[nodiscard]] Status Notify(std::string_view state, std::span<const int> descriptors = {});

/// A start that may take long: while it lives, the service manager is asked for more time again and again
/// ("EXTEND_TIMEOUT_USEC", sd_notify(3)), from a thread of its own, since the start blocks. Not for ever: a
/// start that hangs is ended by the manager some time after kWaitMax. Without a manager it has no effect.
class StartExtension {
 public:
  static constexpr std::chrono::seconds kPeriod{5};      ///< between two requests
  static constexpr std::chrono::seconds kExtension{30};  ///< asked for by each
  static constexpr std::chrono::minutes kWaitMax{
      60};  ///< databases of many gigabytes are brought forward in it

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
