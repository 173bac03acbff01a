#include "programs/sandbox/namespaces/namespace_check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/async/file.h"
#include "base/number.h"
#include "base/process/kernel_calls.h"
#include "programs/sandbox/network/connect_doors.h"
#include "programs/sandbox/sandbox.h"

namespace trainyard::replica {

namespace {

std::optional<std::int64_t> ReadSetting(const std::string& path) {
  return LeadingNumber<std::int64_t>(ReadFile("/proc/sys/" + path).value_or(""));
}

/// Whether the kernel makes the view in these namespaces.
Status TryView(Isolation isolation, const FileView& view) {
  auto sandbox = Sandbox::Start({.function = [] { return 0; }, .isolation = isolation, .view = view});
  if (!sandbox) return std::unexpected(std::move(sandbox).error());
  pollfd ended{.fd = sandbox->pidfd(), .events = POLLIN, .revents = 0};
  while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
  }
  static_cast<void>(sandbox->Reap());
  return {};
}

/// Tries the view with the best namespaces that work here.
Status TryView(const FileView& view) {
  Status tried;
  for (const Isolation isolation :
       {Isolation::kNamespaces, Isolation::kUserNamespaces, Isolation::kNoPidNamespace}) {
    if (isolation == Isolation::kNamespaces && geteuid() != 0) continue;
    tried = TryView(isolation, view);
    if (tried || tried.error().code != Code::kPermissionDenied) break;
  }
  return tried;
}

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

/// Opens a listener on any port; -1 with errno.
UniqueFd Listen(std::uint16_t& port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (!socket || bind(socket.get(), generic, size) != 0 || listen(socket.get(), 1) != 0 ||
      getsockname(socket.get(), generic, &size) != 0)
    return {};
  port = ntohs(address.sin_port);
  return socket;
}

/// The test program, which connects through the door: 0, or the errno of its connection.
int ConnectThrough(ConnectDoors& doors, std::uint16_t port) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  doors.Install();
  const sockaddr_in address = Loopback(port);
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ? 0 : errno;
}

/// Runs in a child process; 0, or errno.
int TryDoors() {
  std::uint16_t port = 0;
  const UniqueFd listener = Listen(port);
  if (!listener) return errno;
  constexpr std::uint16_t kNobodys = 1;  // tcpmux: below the ports that are given out
  ConnectDoors doors({{.from = {INADDR_LOOPBACK, kNobodys}, .to = {INADDR_LOOPBACK, port}}});
  const pid_t program = fork();
  if (program < 0) return errno;
  if (program == 0) _exit(ConnectThrough(doors, kNobodys));
  const UniqueFd ended = OpenPidfd(program);
  if (const int error = doors.Receive(); error != 0) return error;
  for (std::vector<pollfd> ready; ready.empty() || ready.front().revents == 0; doors.Serve(ready)) {
    ready = {{.fd = ended.get(), .events = POLLIN, .revents = 0}};
    doors.AddTo(ready);
    poll(ready.data(), ready.size(), -1);
  }
  int status = 0;
  waitpid(program, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : EPROTO;
}

}  // namespace

NamespaceSettings ReadNamespaceSettings() {
  return {.apparmor_restricts = ReadSetting("kernel/apparmor_restrict_unprivileged_userns"),
          .clone_allowed = ReadSetting("kernel/unprivileged_userns_clone"),
          .count_max = ReadSetting("user/max_user_namespaces"),
          .networks_max = ReadSetting("user/max_net_namespaces")};
}

bool AllowsNoNamespaces() {
  constexpr std::array kKinds = {"user", "mnt", "pid", "uts", "ipc", "net"};
  return std::ranges::any_of(kKinds, [](const char* kind) {
    return ReadSetting("user/max_" + std::string(kind) + "_namespaces") == 0;
  });
}

std::string NamespaceAdvice(const NamespaceSettings& settings) {
  if (settings.clone_allowed == 0) return "as root: sysctl kernel.unprivileged_userns_clone=1";
  if (settings.count_max == 0) return "as root: sysctl user.max_user_namespaces=10000";
  if (settings.networks_max == 0) return "as root: sysctl user.max_net_namespaces=10000";
  if (settings.apparmor_restricts.value_or(0) != 0)
    return "as root: sysctl kernel.apparmor_restrict_unprivileged_userns=0";
  return "no setting of this machine forbids it: if this is a container, start it with --security-opt "
         "seccomp=unconfined";
}

Error DoorsRefused(int error) {
  return FailedPrecondition(
      std::string("connections of programs cannot be redirected (seccomp: ") + std::strerror(error) + ")" +
      (error == EBUSY ? "; this container already runs under a seccomp listener: start it without one" : ""));
}

Status CheckUserNamespaces() {
  const Status tried = TryView({});
  if (tried) return {};
  return std::unexpected(FailedPrecondition("this machine does not allow user namespaces (" +
                                            tried.error().message + "); " +
                                            NamespaceAdvice(ReadNamespaceSettings())));
}

Status CheckOwnRoot() {
  const Status tried = TryView({.added = {"/trainyard-own-root"}});
  if (tried) return {};
  return std::unexpected(
      FailedPrecondition("a replica cannot have its own root directory (" + tried.error().message + ")"));
}

Status CheckConnectDoors() {
  const pid_t trial = fork();
  if (trial < 0) return std::unexpected(ErrnoError(errno, "fork"));
  if (trial == 0) _exit(TryDoors());
  const int status = WaitForChild(trial);
  if (status == 0) return {};
  const int error = WIFEXITED(status) ? WEXITSTATUS(status) : EPROTO;
  return std::unexpected(DoorsRefused(error));
}

}  // namespace trainyard::replica
