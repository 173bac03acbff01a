#include "net/access/peer_uid.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/text/hex.h"

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

using http::Peer;
using http::PeerAddress;

constexpr std::size_t kWordBytes = 4;
constexpr std::string_view kListening = "0A";

/// "0100007f:2116": each word of the address as a number in the machine's own order, then the port. The
/// kernel prints it in upper case.
std::string Printed(const PeerAddress& address, std::size_t bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes; at += kWordBytes) {
    std::uint32_t word = 0;
    std::memcpy(&word, address.bytes.data() + at, kWordBytes);
    text += text::HexNumber(word, 8);
  }
  return text + ":" + text::HexNumber(address.port, 4);
}

/// Removes and returns the next word of a line.
std::string_view TakeWord(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

/// An IPv4 address as an IPv6 socket shows it: a client may use IPv4 through such a socket.
PeerAddress Mapped(const PeerAddress& address) {
  PeerAddress mapped{.bytes = {}, .port = address.port};
  mapped.bytes[10] = mapped.bytes[11] = 0xff;
  std::copy_n(address.bytes.begin(), kWordBytes, mapped.bytes.begin() + 12);
  return mapped;
}

std::optional<std::uint32_t> Number(std::string_view word) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() ? std::optional(number) : std::nullopt;
}

std::optional<OwnedSocket> Find(std::string_view text, const PeerAddress& local, const PeerAddress& remote,
                                std::size_t bytes) {
  const std::string of_local = Printed(local, bytes);
  const std::string of_remote = Printed(remote, bytes);
  while (const std::optional<TcpTableEntry> entry = TakeTcpTableEntry(text)) {
    if (entry->state != kListening && entry->inode != 0 && EqualsIgnoringCase(entry->local, of_local) &&
        EqualsIgnoringCase(entry->remote, of_remote))
      return OwnedSocket{.uid = entry->uid, .number = entry->inode};
  }
  return std::nullopt;
}

}  // namespace

std::optional<TcpTableEntry> TakeTcpTableEntry(std::string_view& table) {
  while (!table.empty()) {
    std::string_view line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(line.size() + 1, table.size()));
    TakeWord(line);  // number
    TcpTableEntry entry{.local = TakeWord(line), .remote = TakeWord(line), .state = TakeWord(line)};
    for (int skipped = 0; skipped < 3; ++skipped) TakeWord(line);  // queues, timer, retransmits
    const auto uid = Number(TakeWord(line));
    TakeWord(line);  // timeout
    const auto inode = Number(TakeWord(line));
    if (!uid || !inode) continue;
    entry.uid = *uid;
    entry.inode = *inode;
    return entry;
  }
  return std::nullopt;
}

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

std::optional<OwnedSocket> FindInTable(std::string_view text, const Peer& peer) {
  constexpr std::size_t kV6Bytes = 16;
  if (peer.kind != Peer::Kind::kTcp4) return Find(text, peer.remote, peer.local, kV6Bytes);
  if (const auto found = Find(text, peer.remote, peer.local, kWordBytes)) return found;
  return Find(text, Mapped(peer.remote), Mapped(peer.local), kV6Bytes);
}

Result<std::optional<OwnedSocket>> FindInProc(const Peer& peer) {
  constexpr std::array<const char*, 2> kTables = {"/proc/net/tcp", "/proc/net/tcp6"};
  for (const char* table : kTables) {
    const Result<std::string> text = ReadFile(table);
    if (!text && text.error().code == Code::kNotFound) continue;
    if (!text) return std::unexpected(text.error());
    if (const auto found = FindInTable(*text, peer)) return found;
  }
  return std::nullopt;
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
