#include "net/access/proc_net.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace trainyard::access {
namespace {

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
