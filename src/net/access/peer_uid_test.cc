#include "net/access/peer_uid.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/async/unique_fd.h"
#include "net/access/proc_net.h"

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

/// Both ways to find it out agree.
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

}  // namespace
}  // namespace trainyard::access
