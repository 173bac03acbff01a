#include "programs/sandbox/network/network_owner.h"

#include <linux/nsfs.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <span>
#include <utility>

#include "base/async/file.h"
#include "base/async/unix_socket.h"
#include "programs/sandbox/namespaces/id_map.h"

namespace trainyard::replica {

namespace {

/// A child's reply: one packet, with the network's descriptor if there is one.
struct Packet {
  bool done = false;
  Code code = Code::kInternal;
  pid_t process = -1;
  std::array<char, 512> message{};
};

bool Send(int socket, const Packet& packet, int network) {
  return SendWithDescriptor(socket, std::as_bytes(std::span(&packet, 1)), network);
}

bool Send(int socket, const Result<ChildReply>& result) {
  if (result) return Send(socket, {.done = true, .process = result->process}, result->network.get());
  Packet packet{.code = result.error().code};
  result.error().message.copy(packet.message.data(), packet.message.size() - 1);
  return Send(socket, packet, -1);
}

Result<ChildReply> Receive(int socket) {
  Packet packet;
  ChildReply reply;
  const auto size =
      ReceiveWithDescriptor(socket, std::as_writable_bytes(std::span(&packet, 1)), reply.network);
  if (size != static_cast<ssize_t>(sizeof packet))
    return std::unexpected(Internal("a child of the supervisor was killed"));
  if (!packet.done) return std::unexpected(Error{packet.code, packet.message.data(), {}});
  reply.process = packet.process;
  return reply;
}

/// Becomes root of the namespace; for a new one, once our parent has mapped its ids.
Status BecomeOwner(int owner, int parent) {
  if (owner == kNoOwner) return {};
  if (owner == kNewOwner) {
    char mapped = 0;
    while (recv(parent, &mapped, 1, 0) < 0 && errno == EINTR) {
    }
    if (mapped == 0) return std::unexpected(Internal("the supervisor has ended"));
  } else if (setns(owner, CLONE_NEWUSER) != 0) {
    return std::unexpected(ErrnoError(errno, "enter the networks' user namespace"));
  }
  return {};  // and root: our user is mapped to it
}

[[noreturn]] void RunChild(int owner, int parent, pid_t parent_pid,
                           const std::function<Result<ChildReply>()>& function) {
  const Status became = BecomeOwner(owner, parent);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // not earlier: a change of credentials may clear it
  if (getppid() != parent_pid) _exit(1);
  const bool said = Send(parent, became ? function() : Result<ChildReply>(std::unexpected(became.error())));
  _exit(said ? 0 : 1);
}

}  // namespace

Result<ChildReply> RunInChild(int owner, const std::function<Result<ChildReply>()>& function) {
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0)
    return std::unexpected(ErrnoError(errno, "socketpair"));
  UniqueFd ours(pair[0]);
  UniqueFd theirs(pair[1]);
  const pid_t self = getpid();
  // As in Sandbox::Start: we have one thread, so that the child may use the heap.
  const unsigned long flags = SIGCHLD | (owner == kNewOwner ? CLONE_NEWUSER : 0);
  const auto child = static_cast<pid_t>(syscall(SYS_clone, flags, nullptr, nullptr, nullptr, nullptr));
  if (child < 0)
    return std::unexpected(ErrnoError(errno, owner == kNewOwner ? "make a user namespace" : "fork"));
  if (child == 0) {
    ours.Reset();
    RunChild(owner, theirs.get(), self, function);
  }
  theirs.Reset();
  const Status mapped = owner == kNewOwner ? MapRoot(child) : Status();
  constexpr char kMapped = 'M';
  if (mapped && owner == kNewOwner) send(ours.get(), &kMapped, 1, MSG_NOSIGNAL);
  if (!mapped) ours.Reset();
  Result<ChildReply> reply = mapped ? Receive(ours.get()) : std::unexpected(mapped.error());
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return reply;
}

Result<UniqueFd> OwnerOf(int network) {
  UniqueFd owner(ioctl(network, NS_GET_USERNS));  // closed on exec
  if (!owner) return std::unexpected(ErrnoError(errno, "find the owner of a network"));
  return owner;
}

Status EnterNetwork(int network) {
  if (setns(network, CLONE_NEWNET) != 0)
    return std::unexpected(ErrnoError(errno, "enter the network namespace"));
  return {};
}

}  // namespace trainyard::replica
