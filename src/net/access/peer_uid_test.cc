#include "net/access/peer_uid.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/async/unique_fd.h"

namespace trainyard::access {
namespace {

constexpr uid_t kNobody = 65534;

/// A TCP connection over loopback, made by this process or a child of another account.
class Connection {
 public:
  explicit Connection(int family = AF_INET, int client_family = AF_UNSPEC) : family_(family) {
    listener_ = UniqueFd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    address_.sin6_family = static_cast<sa_family_t>(family);
    if (family == AF_INET) V4().sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (family == AF_INET6) address_.sin6_addr = in6addr_loopback;
    EXPECT_EQ(::bind(listener_.get(), Generic(), sizeof(address_)), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    socklen_t size = sizeof(address_);
    EXPECT_EQ(::getsockname(listener_.get(), Generic(), &size), 0);
    if (client_family == AF_UNSPEC) client_family = family;
    client_ = UniqueFd(::socket(client_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (family == AF_INET && client_family == AF_INET6) {
      const std::uint16_t port = V4().sin_port;
      address_ = {};
      address_.sin6_family = AF_INET6;
      address_.sin6_port = port;
      EXPECT_EQ(::inet_pton(AF_INET6, "::ffff:127.0.0.1", &address_.sin6_addr), 1);
    }
    Connect(client_.get());
    accepted_ = UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_TRUE(accepted_);
  }

  [[nodiscard]] http::Peer Peer() const { return http::PeerOf(accepted_.get()); }
  UniqueFd& client() { return client_; }

  /// Accepts a connection of a child that becomes `uid` first and closes its end when told by the pipe.
  http::Peer AcceptFromChild(uid_t uid, UniqueFd& accepted) {
    if (::fork() == 0) {
      const UniqueFd socket(::setuid(uid) == 0 ? ::socket(family_, SOCK_STREAM, 0) : -1);
      const bool connected = ::connect(socket.get(), Generic(), sizeof(address_)) == 0;
      char byte = 0;
      if (connected) static_cast<void>(::read(socket.get(), &byte, 1));  // until we close
      ::_exit(connected ? 0 : 1);
    }
    accepted = UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    return http::PeerOf(accepted.get());
  }

 private:
  void Connect(int socket) { EXPECT_EQ(::connect(socket, Generic(), sizeof(address_)), 0); }
  sockaddr* Generic() { return reinterpret_cast<sockaddr*>(&address_); }
  sockaddr_in& V4() { return reinterpret_cast<sockaddr_in&>(address_); }

  int family_;
  sockaddr_in6 address_{};
  UniqueFd listener_;
  UniqueFd client_;
  UniqueFd accepted_;
};

using Owner = std::optional<std::uint32_t>;

/// Both ways to find the owner agree.
void ExpectOwner(const http::Peer& peer, Owner expected) {
  EXPECT_EQ(PeerUids().Find(peer), expected);
  const auto uid = [](const Result<std::optional<OwnedSocket>>& found) {
    return found && *found ? Owner((*found)->uid) : Owner();
  };
  if (const auto diag = SocketDiag::Open()) EXPECT_EQ(uid(diag->Find(peer)), expected);
  EXPECT_EQ(uid(FindInProc(peer)), expected);
}

TEST(PeerUid, OfTcp) { ExpectOwner(Connection().Peer(), ::geteuid()); }

TEST(PeerUid, OfTcpOverV6) { ExpectOwner(Connection(AF_INET6).Peer(), ::geteuid()); }

TEST(PeerUid, OfTcpThroughASocketOfV6) { ExpectOwner(Connection(AF_INET, AF_INET6).Peer(), ::geteuid()); }

TEST(PeerUid, OfWhoRanAwayIsUnknown) {
  Connection connection;
  const http::Peer peer = connection.Peer();
  static_cast<void>(::send(connection.client().get(), "GET /", 5, 0));
  connection.client().Reset();
  ExpectOwner(peer, std::nullopt);
}

TEST(PeerUid, OfWhoWritesNoMoreIsStillKnown) {
  Connection connection;
  ::shutdown(connection.client().get(), SHUT_WR);
  ExpectOwner(connection.Peer(), ::geteuid());
}

TEST(PeerUid, TheNumberOfItsSocket) {
  Connection connection;
  const http::Peer peer = connection.Peer();
  struct stat client{};
  ASSERT_EQ(::fstat(connection.client().get(), &client), 0);
  EXPECT_EQ(PeerUids().SocketOf(peer), std::optional<std::uint32_t>(client.st_ino));
  EXPECT_EQ(FindInProc(peer).value().value().number, client.st_ino);
  connection.client().Reset();
  EXPECT_EQ(PeerUids().SocketOf(peer), std::nullopt);
  EXPECT_EQ(PeerUids().SocketOf(http::Peer{}), std::nullopt);
}

TEST(PeerUid, OfAnotherAccount) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root becomes another account";
  Connection connection;
  UniqueFd accepted;
  const http::Peer peer = connection.AcceptFromChild(kNobody, accepted);
  ExpectOwner(peer, kNobody);
  accepted.Reset();
  int status = 0;
  ::wait(&status);
  EXPECT_EQ(status, 0);
}

TEST(PeerUid, OfAUnixSocket) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const UniqueFd one(ends[0]);
  const UniqueFd other(ends[1]);
  const http::Peer peer = http::PeerOf(one.get());
  EXPECT_EQ(peer.kind, http::Peer::Kind::kUnix);
  EXPECT_EQ(PeerUids().Find(peer), ::geteuid());
}

TEST(PeerUid, OfNoSocketIsUnknown) { EXPECT_EQ(PeerUids().Find(http::PeerOf(-1)), std::nullopt); }

using http::Peer;

constexpr std::string_view kV4 =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 0100007F:2116 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1633 1 0 "
    "100\n"
    "   1: 0100007F:2116 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 1700 1 0 20\n"
    "   2: 0100007F:C350 0100007F:2116 01 00000000:00000000 00:00000000 00000000  1000        0 1701 1 0 20\n"
    "   3: 0100007F:C351 0100007F:2116 06 00000000:00000000 03:00000F00 00000000     0        0 0 3 0\n"
    "   4: 0100007F:C352 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1800 1 0 "
    "100\n";
constexpr std::string_view kV6 =
    "  sl  local_address                         remote_address                        st tx_queue rx_queue "
    "tr\n"
    "   0: 00000000000000000000000001000000:C353 00000000000000000000000001000000:2116 01 00000000:00000000 "
    "00:00000000 00000000  1002        0 1900 1 0 20\n"
    "   1: 0000000000000000FFFF00000100007F:C354 0000000000000000FFFF00000100007F:2116 01 00000000:00000000 "
    "00:00000000 00000000  1003        0 1901 1 0 20\n";

constexpr std::uint16_t kServer = 0x2116;

Peer V4(std::uint16_t port) {
  Peer peer{.kind = Peer::Kind::kTcp4};
  peer.remote = {.bytes = {127, 0, 0, 1}, .port = port};
  peer.local = {.bytes = {127, 0, 0, 1}, .port = kServer};
  return peer;
}

Peer V6(std::uint16_t port) {
  Peer peer{.kind = Peer::Kind::kTcp6};
  peer.remote.bytes[15] = peer.local.bytes[15] = 1;
  peer.remote.port = port;
  peer.local.port = kServer;
  return peer;
}

TEST(ProcNet, TheOtherEndIsFound) {
  EXPECT_EQ(FindInTable(kV4, V4(0xC350)), (OwnedSocket{.uid = 1000, .number = 1701}));
  EXPECT_EQ(FindInTable(kV6, V6(0xC353)), (OwnedSocket{.uid = 1002, .number = 1900}));
  EXPECT_EQ(FindInTable(kV6, V4(0xC354)), (OwnedSocket{.uid = 1003, .number = 1901}))
      << "IPv4 through a socket of IPv6";
}

TEST(ProcNet, NobodysSocketIsNoRoot) {
  EXPECT_EQ(FindInTable(kV4, V4(0xC351)), std::nullopt) << "closed: the table says uid 0";
  EXPECT_EQ(FindInTable(kV4, V4(0xC352)), std::nullopt) << "another one listens there";
  EXPECT_EQ(FindInTable(kV4, V4(0xC3FF)), std::nullopt);
  EXPECT_EQ(FindInTable(kV4, V6(0xC350)), std::nullopt);
}

TEST(ProcNet, GarbageIsNobody) {
  for (const std::string_view text :
       {"", "\n", "a", "0: 0100007F:C350 0100007F:2116", "0: 0100007F:C350 0100007F:2116 01 a b c x d e"})
    EXPECT_EQ(FindInTable(text, V4(0xC350)), std::nullopt) << text;
}

}  // namespace
}  // namespace trainyard::access
