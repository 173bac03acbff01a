#include "net/sockets/gates.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <optional>

#include "base/async/unique_fd.h"
#include "base/async/unix_socket.h"

namespace trainyard::sockets {
namespace {

/// A connection of this process to itself, as a server sees it.
class SocketOwnersTest : public testing::Test {
 protected:
  SocketOwnersTest() {
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener.get(), generic, size), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener.get(), generic, &size), 0);
    EXPECT_EQ(::connect(client_.get(), generic, size), 0);
    accepted_ = UniqueFd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    peer_ = http::PeerOf(accepted_.get());
    peer_.uid = peers_.Find(peer_);
  }

  bool Has() {
    std::optional<bool> has;
    Ask(peer_, has);
    loop_.run();
    loop_.restart();
    return has.value();
  }
  void Ask(http::Peer& peer, std::optional<bool>& has) {
    boost::asio::co_spawn(loop_, owners_.Has(peer),
                          [&has](const std::exception_ptr&, bool found) { has = found; });
  }

  boost::asio::io_context loop_;
  boost::asio::thread_pool pool_{1};
  access::PeerUids peers_;
  SocketOwners owners_{loop_.get_executor(), pool_, peers_};
  UniqueFd client_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  UniqueFd accepted_;
  http::Peer peer_;
};

TEST_F(SocketOwnersTest, AProcessHasTheConnection) {
  EXPECT_TRUE(Has());
  EXPECT_EQ(peer_.pid, ::getpid());
}

TEST_F(SocketOwnersTest, NobodyHasOneThatIsOnItsWay) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  const UniqueFd one(ends[0]);
  const UniqueFd other(ends[1]);
  const std::array<std::byte, 1> message{};
  ASSERT_TRUE(SendWithDescriptor(one.get(), message, client_.get()));
  client_.Reset();
  EXPECT_EQ(peers_.Find(peer_), ::geteuid()) << "the kernel still says whose it was";
  EXPECT_FALSE(Has());
  EXPECT_EQ(peer_.pid, 0);
}

TEST_F(SocketOwnersTest, NobodyHasOneThatIsClosed) {
  client_.Reset();
  EXPECT_FALSE(Has());
}

TEST_F(SocketOwnersTest, OneConnectionIsLookedForOnce) {
  peer_.pid = 1;
  client_.Reset();
  EXPECT_TRUE(Has());
}

TEST_F(SocketOwnersTest, AUnixSocketHasWhoConnected) {
  peer_ = {.kind = http::Peer::Kind::kUnix, .uid = ::geteuid()};
  EXPECT_TRUE(Has());
}

TEST_F(SocketOwnersTest, ManyMayAskAtOnce) {
  http::Peer nobodys = peer_;
  nobodys.remote.port = 1;
  std::array<std::optional<bool>, 4> has;
  http::Peer second = peer_;
  http::Peer third = nobodys;
  Ask(peer_, has[0]);
  Ask(nobodys, has[1]);
  Ask(second, has[2]);
  Ask(third, has[3]);
  loop_.run();
  EXPECT_EQ(has, (std::array<std::optional<bool>, 4>{true, false, true, false}));
}

}  // namespace
}  // namespace trainyard::sockets
