#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

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

}  // namespace trainyard::systemd
