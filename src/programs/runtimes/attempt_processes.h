#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// The processes of the attempts of an installation, as this process sees them. Reads /proc, and asks the
/// daemon for the containers that it runs; blocking, a pool's thread. What cannot be read is left out.
namespace trainyard::replica {

struct AttemptProcess {
  pid_t pid = -1;
  std::uint32_t uid = 0;   ///< a container's program may be another user than the server
  std::string attempt_id;  ///< whose it is
};

/// Of the attempts that live in this directory; without their supervisors, with the shells in them that this
/// process has started.
[[nodiscard]] std::vector<AttemptProcess> FindAttemptProcesses(const std::string& attempts_dir);

/// One end of a connection: what the kernel tells of it.
struct ConnectionEnd {
  pid_t pid = 0;             ///< of a Unix socket: who connected; 0: not known
  std::uint32_t socket = 0;  ///< the socket's number, as /proc/PID/fd shows it; 0: not known
};

/// The attempt of which some process made the connection, or has its socket. Nothing: none of these, or
/// processes of several attempts have it.
[[nodiscard]] std::optional<std::string> FindAttemptOf(const std::string& attempts_dir, ConnectionEnd end);

/// Whether the process, or one that descends from it, made the connection or has its socket.
[[nodiscard]] bool IsBelow(pid_t ancestor, ConnectionEnd end);

}  // namespace trainyard::replica
