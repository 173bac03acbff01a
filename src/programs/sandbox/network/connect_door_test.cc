#include "programs/sandbox/network/connect_door.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstring>

namespace trainyard::replica::connect_door_test {
namespace {

const std::vector<ConnectDoor> kDoors = {{.from = {0x7F400102, 443}, .to = {0x7F400102, 12'000}},
                                         {.from = {0xA9FEA9FE, 80}, .to = {0x7F400102, 12'001}}};

template <class Address>
std::vector<std::byte> Bytes(const Address& address) {
  std::vector<std::byte> bytes(sizeof(address));
  std::memcpy(bytes.data(), &address, sizeof(address));
  return bytes;
}

std::vector<std::byte> V4(const char* text, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  EXPECT_EQ(inet_pton(AF_INET, text, &address.sin_addr), 1);
  return Bytes(address);
}

std::vector<std::byte> V6(const char* text, std::uint16_t port) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  address.sin6_scope_id = 7;
  EXPECT_EQ(inet_pton(AF_INET6, text, &address.sin6_addr), 1);
  return Bytes(address);
}

std::vector<std::byte> Longer(std::vector<std::byte> bytes, std::size_t size) {
  bytes.resize(size);
  return bytes;
}

struct Row {
  const char* name;
  std::vector<std::byte> address;
  std::vector<std::byte> led;  ///< the same: no door
};

class LeadElsewhereTest : public testing::TestWithParam<Row> {};

TEST_P(LeadElsewhereTest, ChangesWhatADoorIsFor) {
  std::vector<std::byte> address = GetParam().address;
  EXPECT_EQ(LeadElsewhere(kDoors, address), GetParam().led != GetParam().address);
  EXPECT_EQ(address, GetParam().led);
}

Row Stays(const char* name, const std::vector<std::byte>& address) { return {name, address, address}; }

INSTANTIATE_TEST_SUITE_P(
    Rules, LeadElsewhereTest,
    testing::Values(
        Row{"tls", V4("127.64.1.2", 443), V4("127.64.1.2", 12'000)},
        Row{"metadata", V4("169.254.169.254", 80), V4("127.64.1.2", 12'001)},
        Row{"mapped", V6("::ffff:127.64.1.2", 443), V6("::ffff:127.64.1.2", 12'000)},
        Row{"in_a_larger_address", Longer(V4("127.64.1.2", 443), 128), Longer(V4("127.64.1.2", 12'000), 128)},
        Stays("another_port", V4("127.64.1.2", 80)), Stays("another_address", V4("127.64.1.3", 443)),
        Stays("not_mapped", V6("::127.64.1.2", 443)), Stays("v6", V6("::1", 443)),
        Stays("too_short", Longer(V4("127.64.1.2", 443), 15)),
        Stays("v6_too_short", Longer(V6("::ffff:127.64.1.2", 443), 27)),
        Stays("unix", Bytes(sockaddr_un{.sun_family = AF_UNIX, .sun_path = "/x"})), Stays("nothing", {})),
    [](const auto& row) { return row.param.name; });

TEST(FrontDoors, LeadToWhereTheFrontListens) {
  v1::GoogleFront front;
  front.set_address("127.64.1.2");
  EXPECT_EQ(FrontDoors(front), std::vector<ConnectDoor>()) << "it listens on Google's ports";
  front.set_tls_port(12'000);
  EXPECT_EQ(FrontDoors(front), std::vector{kDoors[0]});
  front.set_plain_port(12'001);
  EXPECT_EQ(FrontDoors(front),
            (std::vector{kDoors[0], {.from = {0x7F400102, 80}, .to = {0x7F400102, 12'001}}, kDoors[1]}));
  front.clear_address();
  EXPECT_EQ(FrontDoors(front), std::vector<ConnectDoor>());
}

TEST(ParseDoorPlace, TakesDottedAddresses) {
  EXPECT_EQ(ParseDoorPlace("127.64.1.2", 443), (DoorPlace{0x7F400102, 443}));
  EXPECT_EQ(ParseDoorPlace("localhost", 443), std::nullopt);
  EXPECT_EQ(ParseDoorPlace("", 443), std::nullopt);
}

TEST(IsSocketcall, IsOneOfI386) {
  EXPECT_TRUE(IsSocketcall(AUDIT_ARCH_I386, 102));
  EXPECT_FALSE(IsSocketcall(AUDIT_ARCH_I386, 362));
  EXPECT_FALSE(IsSocketcall(AUDIT_ARCH_X86_64, 102));  // getuid
}

}  // namespace
}  // namespace trainyard::replica::connect_door_test
