#include "base/async/unix_socket.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/async/file.h"

namespace trainyard {

Result<UnixAddress> UnixAddress::Make(const std::filesystem::path& path) {
  UnixAddress made;
  made.address.sun_family = AF_UNIX;
  std::string name = path.string();
  if (name.size() >= sizeof(made.address.sun_path)) {
    TY_TRY(made.directory, OpenFile(path.has_parent_path() ? path.parent_path() : ".", O_PATH | O_DIRECTORY));
    name = "/proc/self/fd/" + std::to_string(made.directory.get()) + "/" + path.filename().string();
  }
  if (name.size() >= sizeof(made.address.sun_path))
    return std::unexpected(InvalidArgument("", "the socket's file name is too long: " + path.string()));
  std::memcpy(made.address.sun_path, name.c_str(), name.size() + 1);
  return made;
}

Result<UniqueFd> ConnectUnix(const std::filesystem::path& path, int flags) {
  TY_TRY(const UnixAddress address, UnixAddress::Make(path));
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!socket) return std::unexpected(ErrnoError(errno, "socket"));
  int connected = -1;
  do {
    connected = ::connect(socket.get(), address.get(), sizeof(address.address));
  } while (connected != 0 && errno == EINTR);
  if (connected == 0) return socket;
  if (errno == ENOENT || errno == EACCES)
    return std::unexpected(ErrnoError(errno, "cannot connect to " + path.string()));
  return std::unexpected(Unavailable("cannot connect to " + path.string() + ": " + std::strerror(errno)));
}

}  // namespace trainyard
