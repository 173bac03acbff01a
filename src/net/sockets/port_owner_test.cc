#include "net/sockets/port_owner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "net/http/listening_socket.h"

namespace trainyard::sockets {
namespace {

// 8470 is 0x2116. Columns as the kernel prints them.
constexpr std::string_view kTable =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 0100007F:2116 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1001        0 11 1 0\n"
    "   1: 0200007F:2116 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1002        0 4141 1 0\n"
    "   2: 0100007F:2116 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0\n"
    "   3: 00000000:2117 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1003        0 4343 1 0\n";

std::optional<ListeningEntry> Find(const char* host, std::uint16_t port) {
  return FindListening(kTable, AddressesInTheWay(host), port);
}

TEST(FindListening, FindsTheListenerAndNoConnection) {
  EXPECT_EQ(Find("127.0.0.1", 8470), (ListeningEntry{1000, 4242}));
  EXPECT_EQ(Find("127.0.0.1", 8472), std::nullopt);
  EXPECT_EQ(FindListening("", AddressesInTheWay("127.0.0.1"), 8470), std::nullopt);
  EXPECT_EQ(FindListening("   1: 0100007F:2116 00000000:0000 0A\n", AddressesInTheWay("127.0.0.1"), 8470),
            std::nullopt);
}

TEST(FindListening, LooksAtTheAddress) {
  EXPECT_EQ(Find("127.0.0.2", 8470), (ListeningEntry{1002, 4141}));
  EXPECT_EQ(Find("127.0.0.3", 8470), std::nullopt);
  EXPECT_EQ(Find("::1", 8470), std::nullopt);
  EXPECT_EQ(Find("127.0.0.3", 8471), (ListeningEntry{1003, 4343})) << "0.0.0.0 is every address";
  EXPECT_EQ(Find("0.0.0.0", 8470), (ListeningEntry{1002, 4141})) << "every address is in its way";
}

// As printed by a little-endian machine, which the test requires.
TEST(AddressesInTheWay, AreTheAddressAndTheWildcards) {
  const std::string zeros(32, '0');
  const std::string mapped = "0000000000000000FFFF0000";  // ::ffff:0:0/96
  EXPECT_EQ(AddressesInTheWay("127.0.0.1"),
            (std::vector<std::string>{"0100007F", "00000000", mapped + "0100007F", zeros}));
  EXPECT_EQ(AddressesInTheWay("::1"), (std::vector<std::string>{"00000000000000000000000001000000", zeros}));
  EXPECT_EQ(AddressesInTheWay("::"), std::nullopt);
  EXPECT_EQ(AddressesInTheWay("somewhere"), std::vector<std::string>{});
}

TEST(FindPortOwner, FindsThisProcess) {
  const auto socket = http::ListenOnTcp("127.0.0.1", 0);
  ASSERT_TRUE(socket);
  const auto owner = FindPortOwner("localhost", socket->port);
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->pid, ::getpid());
  EXPECT_NE(owner->program.find("sockets_test"), std::string::npos) << owner->program;
  EXPECT_EQ(owner->data_dir, "");
  EXPECT_EQ(FindPortOwner("127.0.0.2", socket->port), std::nullopt) << "another address's port is free";
}

TEST(PortInUse, SaysWhoHasItAndHowToGoOn) {
  const auto said = [](const std::optional<PortOwner>& owner) {
    return PortInUse("127.0.0.1:8470", owner, "/d").message;
  };
  const std::string other = "trainyard serve --listen 127.0.0.1:0 --data /d (0: any free port)";
  EXPECT_EQ(said({}), "127.0.0.1:8470 is in use. Choose another port: " + other);
  EXPECT_EQ(said(PortOwner{.user = "ann"}),
            "127.0.0.1:8470 is in use by a program of the user ann. Choose another port: " + other);
  EXPECT_EQ(said(PortOwner{.pid = 7, .program = "nginx -g x", .user = "root"}),
            "127.0.0.1:8470 is in use by [nginx -g x] (process 7, user root). Choose another port: " + other);
  EXPECT_EQ(said(PortOwner{.pid = 7, .program = "trainyard serve", .user = "ann", .data_dir = "/home/ann/t"}),
            "127.0.0.1:8470 is in use by the Trainyard server of the data directory /home/ann/t (process 7, "
            "user ann). To use it: eval \"$(trainyard env --data /home/ann/t)\". To run a second server: " +
                other);
}

}  // namespace
}  // namespace trainyard::sockets
