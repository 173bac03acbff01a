#include "sandbox/socket_path.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace trainyard::replica {

Result<UniqueFd> ConnectUnix(const std::string& path, int flags) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string reachable = path;
  UniqueFd folder;
  if (path.size() >= sizeof(address.sun_path)) {  // through a descriptor of its directory
    const std::size_t slash = path.rfind('/');
    folder.Reset(open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return std::unexpected(Unavailable("cannot reach " + path + ": " + std::strerror(errno)));
    reachable = "/proc/self/fd/" + std::to_string(folder.get()) + path.substr(slash);
  }
  if (reachable.size() >= sizeof(address.sun_path))
    return std::unexpected(InvalidArgument("", path + " is too long for a socket"));
  std::memcpy(address.sun_path, reachable.c_str(), reachable.size() + 1);
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!socket) return std::unexpected(ErrnoError(errno, "socket"));
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return std::unexpected(Unavailable("cannot connect to " + path + ": " + std::strerror(errno)));
  }
  return socket;
}

}  // namespace trainyard::replica
