#include "base/systemd/notify_socket.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/systemd/service_variables.h"

namespace trainyard::systemd {

namespace {

/// Attaches the descriptors to the message; `space` must live until the message is sent.
void Attach(std::span<const int> descriptors, std::vector<char>& space, msghdr& message) {
  if (descriptors.empty()) return;
  space.resize(CMSG_SPACE(descriptors.size_bytes()));
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  cmsghdr* control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(control), descriptors.data(), descriptors.size_bytes());
}

}  // namespace

std::string NotifyExtend(std::chrono::microseconds more) {
  return "EXTEND_TIMEOUT_USEC=" + std::to_string(more.count());
}

std::string NotifyStore(std::string_view name) { return "FDSTORE=1\nFDNAME=" + std::string(name); }

Status Notify(std::string_view state, std::span<const int> descriptors) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || *path == '\0') return {};
  const std::size_t size = std::strlen(path);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if ((path[0] != '/' && path[0] != '@') || size >= sizeof(address.sun_path))
    return std::unexpected(InvalidArgument("NOTIFY_SOCKET", std::string(path) + " is not a Unix socket"));
  std::memcpy(address.sun_path, path, size);
  if (path[0] == '@') address.sun_path[0] = '\0';
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return std::unexpected(ErrnoError(errno, "socket"));
  iovec bytes{.iov_base = const_cast<char*>(state.data()), .iov_len = state.size()};
  msghdr message{};
  message.msg_name = &address;
  message.msg_namelen = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size);
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  std::vector<char> space;
  Attach(descriptors, space, message);
  ssize_t sent = -1;
  do {
    sent = sendmsg(socket.get(), &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0)
    return std::unexpected(Unavailable(std::string("cannot tell ") + path + ": " + std::strerror(errno)));
  return {};
}

StartExtension::StartExtension() {
  if (IsNotified()) thread_ = std::jthread([this](const std::stop_token& stop) { Extend(stop); });
}

void StartExtension::Extend(const std::stop_token& stop) {
  const std::string request = NotifyExtend(kExtension);
  const auto give_up_at = std::chrono::steady_clock::now() + kWaitMax;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested() && std::chrono::steady_clock::now() < give_up_at) {
    std::ignore = Notify(request);  // if the manager is gone, nobody limits the start
    ended_.wait_for(lock, stop, kPeriod, [] { return false; });
  }
}

}  // namespace trainyard::systemd
