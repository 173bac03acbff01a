#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// The processes of an installation's attempts, as this process sees them. Reads /proc, and asks the daemon
/// for the containers that it runs; blocking: call it on a pool's thread. What cannot be read is left out.
namespace trainyard::replica {

struct AttemptProcess {
  pid_t pid = -1;
  std::uint32_t uid = 0;   ///< a container's program may be another user than the server
  std::string attempt_id;  ///< the attempt that it belongs to
};

/// Finds the processes of living attempts in this directory; without their supervisors, but with the shells
/// that this process has started in them.
[[nodiscard]] std::vector<AttemptProcess> FindAttemptProcesses(const std::string& attempts_dir);

/// One end of a connection, as the kernel identifies it.
struct ConnectionEnd {
  pid_t pid = 0;             ///< for a Unix socket: the process that connected; 0: not known
  std::uint32_t socket = 0;  ///< the socket's number, as /proc/PID/fd shows it; 0: not known
};

/// The attempt one of whose processes made the connection or has its socket. Empty: there is none, or
/// processes of several attempts have the socket.
[[nodiscard]] std::optional<std::string> FindAttemptOf(const std::string& attempts_dir, ConnectionEnd end);

/// The attempt, if exactly one lives in this directory.
[[nodiscard]] std::optional<std::string> FindOnlyAttempt(const std::string& attempts_dir);

/// Whether the process or one of its descendants made the connection or has its socket.
[[nodiscard]] bool IsBelow(pid_t ancestor, ConnectionEnd end);

/// The accounts of all processes of the attempts that live in this directory, as this process sees them: a
/// container's program may be another user than the server. Reads /proc once, and asks the daemon for the
/// containers that it runs; blocking: call it on a pool's thread. What cannot be read is left out.
[[nodiscard]] std::set<std::uint32_t> FindAttemptUids(const std::string& attempts_dir);

}  // namespace trainyard::replica
