#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"

/// Reads what the service manager passes to a service in its environment. Source:
/// sd_listen_fds_with_names(3), sd_watchdog_enabled(3).
namespace trainyard::systemd {

/// Whether Notify (notify_socket.h) reaches a manager. Any thread, as long as none calls setenv.
[[nodiscard]] bool IsNotified();

/// Changes for OwnVariables (base/process/variables.h) that remove the manager's variables, which are only
/// for the service and not for programs that it starts. Pure. Source: systemd.exec(5), "Environment variables
/// in spawned processes".
[[nodiscard]] std::map<std::string, std::optional<std::string>> WithoutServiceVariables();

/// A descriptor that the manager kept for this service during its restart, or opened for it.
struct KeptDescriptor {
  std::string name;  ///< from FDNAME=
  UniqueFd descriptor;
};

/// The names of the kept descriptors, from the values of $LISTEN_PID, $LISTEN_FDS and $LISTEN_FDNAMES
/// (nullptr: not set), in the order of the descriptors, which are numbered from 3 on. Empty if they are not
/// for the process `own_pid`, or if the values are not numbers; "unknown" for descriptors without a name.
/// Pure.
[[nodiscard]] std::vector<std::string> NamesOfKept(const char* pid, const char* count, const char* names,
                                                   long own_pid);

/// Takes the kept descriptors: unsets the variables, and sets close-on-exec so that programs that this
/// process starts do not get them. Call it once, before there are threads.
[[nodiscard]] std::vector<KeptDescriptor> TakeKeptDescriptors();

/// How long the manager waits between two "WATCHDOG=1" before it ends the service, from the values of
/// $WATCHDOG_PID and $WATCHDOG_USEC. Nullopt: there is no watchdog. Pure.
[[nodiscard]] std::optional<std::chrono::microseconds> WatchdogWait(const char* pid, const char* microseconds,
                                                                    long own_pid);

/// WatchdogWait from the environment; unsets the variables. Call it before there are threads.
[[nodiscard]] std::optional<std::chrono::microseconds> TakeWatchdogWait();

}  // namespace trainyard::systemd
