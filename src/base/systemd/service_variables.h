#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"

/// What the service manager tells a service by its environment. Source: sd_listen_fds_with_names(3),
/// sd_watchdog_enabled(3).
namespace trainyard::systemd {

/// Whether Notify (notify_socket.h) reaches a manager. Any thread, as long as none calls setenv.
[[nodiscard]] bool IsNotified();

/// Without what a manager says to one service, which is not for the programs that this starts: changes for
/// OwnVariables (base/process/variables.h). Pure. Source: systemd.exec(5), "Environment variables in spawned
/// processes".
[[nodiscard]] std::map<std::string, std::optional<std::string>> WithoutServiceVariables();

/// A descriptor that the manager kept for this service over its restart, or opened for it.
struct KeptDescriptor {
  std::string name;  ///< as FDNAME= said it
  UniqueFd descriptor;
};

/// Their names by the texts of $LISTEN_PID, $LISTEN_FDS, $LISTEN_FDNAMES (nullptr: not set), in the order of
/// the descriptors, which are numbered from 3 on. Empty where they are not for the process `own_pid`, or are
/// no numbers; "unknown" for those without a name. Pure.
[[nodiscard]] std::vector<std::string> NamesOfKept(const char* pid, const char* count, const char* names,
                                                   long own_pid);

/// Takes them: the variables are unset, and programs that this process starts do not get them (CLOEXEC).
/// Once, before there are threads.
[[nodiscard]] std::vector<KeptDescriptor> TakeKeptDescriptors();

/// By the texts of $WATCHDOG_PID and $WATCHDOG_USEC: how long the manager waits between two "WATCHDOG=1"
/// before it ends the service. Nothing: it does not. Pure.
[[nodiscard]] std::optional<std::chrono::microseconds> WatchdogWait(const char* pid, const char* microseconds,
                                                                    long own_pid);

/// The same from the environment, where it is unset. Before there are threads.
[[nodiscard]] std::optional<std::chrono::microseconds> TakeWatchdogWait();

}  // namespace trainyard::systemd
