#include "net/access/peer_uid.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/async/diagnostics.h"

namespace trainyard::access {

namespace {

struct Question {
  nlmsghdr header{};
  inet_diag_req_v2 request{};
};

/// The part of the answer that is read; attributes may follow.
struct Answer {
  nlmsghdr header{};
  union {
    inet_diag_msg socket;
    nlmsgerr error;
  };
};

void SetAddress(std::uint32_t* words, std::uint16_t& port, const http::PeerAddress& address) {
  std::memcpy(words, address.bytes.data(), address.bytes.size());
  port = htons(address.port);
}

/// Source and destination from the view of the peer's socket.
Question QuestionFor(const http::Peer& peer) {
  Question question;
  question.header.nlmsg_len = sizeof(question);
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  inet_diag_req_v2& request = question.request;
  request.sdiag_family = peer.kind == http::Peer::Kind::kTcp4 ? AF_INET : AF_INET6;
  request.sdiag_protocol = IPPROTO_TCP;
  request.idiag_states = ~0U;
  SetAddress(request.id.idiag_src, request.id.idiag_sport, peer.remote);
  SetAddress(request.id.idiag_dst, request.id.idiag_dport, peer.local);
  request.id.idiag_cookie[0] = request.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return question;
}

bool IsOwned(const inet_diag_msg& socket) noexcept {
  return socket.idiag_inode != 0 && socket.idiag_state != TCP_LISTEN;
}

/// A connection of this process to itself over loopback: our side of it, and the other.
Result<std::array<UniqueFd, 3>> ConnectToSelf() {
  UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof(address);
  const bool connected =
      listener && client && ::bind(listener.get(), generic, size) == 0 && ::listen(listener.get(), 1) == 0 &&
      ::getsockname(listener.get(), generic, &size) == 0 && ::connect(client.get(), generic, size) == 0;
  if (!connected) return std::unexpected(ErrnoError(errno, "connect to itself"));
  UniqueFd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!accepted) return std::unexpected(ErrnoError(errno, "accept"));
  return std::array<UniqueFd, 3>{std::move(accepted), std::move(client), std::move(listener)};
}

}  // namespace

Result<SocketDiag> SocketDiag::Open() {
  UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!socket) return std::unexpected(Unavailable("the kernel has no NETLINK_SOCK_DIAG"));
  SocketDiag diag(std::move(socket));
  TY_TRY(const auto connection, ConnectToSelf());
  const auto found = diag.Find(http::PeerOf(connection[0].get()));
  if (!found) return std::unexpected(Unavailable(found.error().message));
  if (!*found || (*found)->uid != ::geteuid())
    return std::unexpected(Unavailable("NETLINK_SOCK_DIAG does not know TCP's sockets"));
  return diag;
}

Result<std::optional<OwnedSocket>> SocketDiag::Find(const http::Peer& peer) const {
  const Question question = QuestionFor(peer);
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  const ssize_t sent = ::sendto(socket_.get(), &question, sizeof(question), 0,
                                reinterpret_cast<const sockaddr*>(&kernel), sizeof(kernel));
  if (sent < 0) return std::unexpected(ErrnoError(errno, "ask sock_diag"));
  Answer answer;
  // The kernel replies within sendto, so recv does not have to wait.
  const ssize_t got = ::recv(socket_.get(), &answer, sizeof(answer), MSG_DONTWAIT);
  if (got < 0) return std::unexpected(ErrnoError(errno, "read sock_diag"));
  const auto size = static_cast<std::size_t>(got);
  if (size >= NLMSG_HDRLEN + sizeof(nlmsgerr) && answer.header.nlmsg_type == NLMSG_ERROR) {
    if (answer.error.error == -ENOENT) return std::nullopt;
    return std::unexpected(ErrnoError(-answer.error.error, "sock_diag"));
  }
  if (size < NLMSG_HDRLEN + sizeof(inet_diag_msg) || answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY)
    return std::unexpected(Internal("sock_diag answered with something else"));
  if (!IsOwned(answer.socket)) return std::nullopt;
  return OwnedSocket{.uid = answer.socket.idiag_uid, .number = answer.socket.idiag_inode};
}

PeerUids::PeerUids() {
  Result<SocketDiag> diag = SocketDiag::Open();
  if (diag) {
    diag_ = *std::move(diag);
    return;
  }
  Diagnose(DiagnosticLevel::kInfo,
           "access: clients' accounts are read from /proc/net/tcp, since " + diag.error().message);
}

std::optional<std::uint32_t> PeerUids::Find(const http::Peer& peer) const {
  if (peer.uid || peer.kind == http::Peer::Kind::kUnix || peer.kind == http::Peer::Kind::kUnknown)
    return peer.uid;
  const std::optional<OwnedSocket> found = Look(peer);
  return found ? std::optional(found->uid) : std::nullopt;
}

std::optional<std::uint32_t> PeerUids::SocketOf(const http::Peer& peer) const {
  const bool is_tcp = peer.kind == http::Peer::Kind::kTcp4 || peer.kind == http::Peer::Kind::kTcp6;
  const std::optional<OwnedSocket> found = is_tcp ? Look(peer) : std::nullopt;
  return found ? std::optional(found->number) : std::nullopt;
}

std::optional<OwnedSocket> PeerUids::Look(const http::Peer& peer) const {
  const Result<std::optional<OwnedSocket>> found = diag_ ? diag_->Find(peer) : FindInProc(peer);
  if (found) return *found;
  Diagnose(DiagnosticLevel::kWarning,
           "access: cannot find out which account sent a request: " + found.error().message);
  return std::nullopt;
}

}  // namespace trainyard::access
