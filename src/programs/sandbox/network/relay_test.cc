#include "programs/sandbox/network/relay.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/async/file.h"
#include "base/async/testing/temporary_folder.h"
#include "base/async/unique_fd.h"

namespace trainyard::replica {
namespace {

/// A relay in a child process between a TCP port and a Unix socket; the test has both ends.
class RelayTest : public testing::Test {
 protected:
  RelayTest() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(tcp_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(tcp_.get(), 16), 0);
    socklen_t size = sizeof address_;
    EXPECT_EQ(getsockname(tcp_.get(), reinterpret_cast<sockaddr*>(&address_), &size), 0);
    relay_ = fork();
    if (relay_ == 0) {
      std::vector<RelayDoor> doors;
      doors.push_back({std::move(tcp_), path_});
      RunRelay(doors);
      _exit(1);
    }
    tcp_.Reset();
  }
  ~RelayTest() override {
    kill(relay_, SIGKILL);
    waitpid(relay_, nullptr, 0);
  }
  void StartServer() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(bind(server_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(listen(server_.get(), 16), 0);
  }
  UniqueFd Connect() {
    UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&address_), sizeof address_), 0);
    return client;
  }
  UniqueFd Accept() { return UniqueFd(accept4(server_.get(), nullptr, nullptr, SOCK_CLOEXEC)); }
  static std::string ReadToEnd(int from) {
    std::string all;
    std::string part(64 << 10, '\0');
    for (ssize_t size = 0; (size = read(from, part.data(), part.size())) > 0;)
      all.append(part.data(), static_cast<std::size_t>(size));
    return all;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path() + "/server.sock";
  UniqueFd tcp_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  UniqueFd server_{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address_{};
  pid_t relay_ = -1;
};

TEST_F(RelayTest, CarriesBytesAndEndsBothWays) {
  StartServer();
  const UniqueFd client = Connect();
  UniqueFd server = Accept();
  std::string much(8 << 20, '\0');  // more than all buffers on the way hold
  for (std::size_t i = 0; i < much.size(); ++i) much[i] = static_cast<char>(i * 7 + i / 251);
  const pid_t writer = fork();
  if (writer == 0) {
    const bool written = WriteAll(client.get(), much).has_value() && shutdown(client.get(), SHUT_WR) == 0;
    _exit(written ? 0 : 1);
  }
  EXPECT_EQ(ReadToEnd(server.get()), much);
  ASSERT_TRUE(WriteAll(server.get(), "answer after the end").has_value());
  server.Reset();
  EXPECT_EQ(ReadToEnd(client.get()), "answer after the end");
  int status = -1;
  waitpid(writer, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(RelayTest, ConnectionsDoNotWaitForEachOther) {
  StartServer();
  const UniqueFd idle = Connect();
  const UniqueFd idle_server = Accept();
  const UniqueFd client = Connect();
  UniqueFd server = Accept();
  ASSERT_TRUE(WriteAll(server.get(), "hello").has_value());
  server.Reset();
  EXPECT_EQ(ReadToEnd(client.get()), "hello");
}

TEST_F(RelayTest, WithoutAServerAConnectionEndsAndALaterOneWorks) {
  const UniqueFd early = Connect();
  EXPECT_EQ(ReadToEnd(early.get()), "");
  StartServer();
  const UniqueFd client = Connect();
  UniqueFd server = Accept();
  ASSERT_TRUE(WriteAll(server.get(), "back").has_value());
  server.Reset();
  EXPECT_EQ(ReadToEnd(client.get()), "back");
}

}  // namespace
}  // namespace trainyard::replica
