#include "server/port_owner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "http/listening_socket.h"

namespace trainyard::server {
namespace {

// 8470 is 0x2116. Columns as the kernel prints them.
constexpr std::string_view kTable =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 0100007F:2116 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1001        0 11 1 0\n"
    "   1: 0100007F:2116 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0\n";

TEST(FindListening, FindsTheListenerAndNoConnection) {
  EXPECT_EQ(FindListening(kTable, 8470), (ListeningEntry{1000, 4242}));
  EXPECT_EQ(FindListening(kTable, 8471), std::nullopt);
  EXPECT_EQ(FindListening("", 8470), std::nullopt);
  EXPECT_EQ(FindListening("   1: 0100007F:2116 00000000:0000 0A\n", 8470), std::nullopt);
}

TEST(FindPortOwner, FindsThisProcess) {
  const auto socket = http::ListenOnTcp("127.0.0.1", 0);
  ASSERT_TRUE(socket);
  const auto owner = FindPortOwner(socket->port);
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->pid, ::getpid());
  EXPECT_NE(owner->program.find("server_test"), std::string::npos) << owner->program;
  EXPECT_EQ(owner->data_dir, "");
}

TEST(PortInUse, SaysWhoHasItAndHowToGoOn) {
  const auto said = [](const std::optional<PortOwner>& owner) {
    return PortInUse("127.0.0.1:8470", owner, "/d").message;
  };
  const std::string other = "trainyard serve --listen 127.0.0.1:0 --data /d (0: any port that is free)";
  EXPECT_EQ(said({}), "127.0.0.1:8470 is in use. Choose another port: " + other);
  EXPECT_EQ(said(PortOwner{.user = "ann"}),
            "127.0.0.1:8470 is in use by a program of the user ann. Choose another port: " + other);
  EXPECT_EQ(said(PortOwner{.pid = 7, .program = "nginx -g x", .user = "root"}),
            "127.0.0.1:8470 is in use by [nginx -g x] (process 7, user root). Choose another port: " + other);
  EXPECT_EQ(said(PortOwner{.pid = 7, .program = "trainyard serve", .user = "ann", .data_dir = "/home/ann/t"}),
            "127.0.0.1:8470 is in use by the Trainyard server of the data directory /home/ann/t (process 7, "
            "user ann). To use that one: eval \"$(trainyard env --data /home/ann/t)\". To run another beside "
            "it: " +
                other);
}

}  // namespace
}  // namespace trainyard::server
