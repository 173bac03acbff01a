#include "base/async/unix_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/async/file.h"

namespace trainyard {

namespace {

constexpr std::size_t kSpace = CMSG_SPACE(sizeof(int));

}  // namespace

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

bool SendWithDescriptor(int socket, std::span<const std::byte> message, int descriptor) {
  iovec bytes{.iov_base = const_cast<std::byte*>(message.data()), .iov_len = message.size()};
  alignas(cmsghdr) std::array<char, kSpace> space{};
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  if (descriptor >= 0) {
    header.msg_control = space.data();
    header.msg_controllen = space.size();
    cmsghdr* control = CMSG_FIRSTHDR(&header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(control), &descriptor, sizeof(int));
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return std::cmp_equal(sent, message.size());
}

std::ptrdiff_t ReceiveWithDescriptor(int socket, std::span<std::byte> message, UniqueFd& descriptor) {
  iovec bytes{.iov_base = message.data(), .iov_len = message.size()};
  alignas(cmsghdr) std::array<char, kSpace> space{};
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  header.msg_control = space.data();
  header.msg_controllen = space.size();
  ssize_t size = 0;
  do {
    size = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  const cmsghdr* control = size > 0 ? CMSG_FIRSTHDR(&header) : nullptr;
  if (control != nullptr && control->cmsg_type == SCM_RIGHTS) {
    int received = -1;
    std::memcpy(&received, CMSG_DATA(control), sizeof(int));
    descriptor.Reset(received);
  }
  return size;
}

}  // namespace trainyard
