#include "base/systemd/notify_socket.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/async/unique_fd.h"
#include "base/systemd/service_variables.h"

namespace trainyard::systemd {

namespace {

namespace asio = boost::asio;

void Tell(const std::string& state) {
  if (const Status told = Notify(state); !told)
    Diagnose(DiagnosticLevel::kWarning,
             "the service manager does not hear this server: " + told.error().message);
}

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

ServiceNotices::ServiceNotices() : watchdog_(TakeWatchdogWait()) {}

void ServiceNotices::Starting(const std::string& what) { Tell("STATUS=" + what); }

void ServiceNotices::Ready(const std::string& url) {
  Tell(std::string(kNotifyReady) + "\nSTATUS=listening on " + url);
}

void ServiceNotices::Stopping() {
  Tell(std::string(kNotifyStopping) + "\nSTATUS=answering the last requests");
}

asio::awaitable<void> ServiceNotices::FeedWatchdog() const {
  if (!watchdog_) co_return;
  asio::steady_timer timer(co_await asio::this_coro::executor);
  while (true) {
    Tell(std::string(kNotifyWatchdog));
    timer.expires_after(*watchdog_ / 2);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

Result<std::vector<std::string>> ReloadHooks::RunAll() const {
  std::vector<std::string> done;
  std::string failures;
  for (const auto& [what, hook] : hooks_) {
    const Status read = hook();
    if (read) {
      done.push_back(what);
    } else {
      failures += (failures.empty() ? "" : "; ") + what + " stays as it was: " + read.error().message;
    }
  }
  if (failures.empty()) return done;
  return std::unexpected(FailedPrecondition(failures));
}

}  // namespace trainyard::systemd
