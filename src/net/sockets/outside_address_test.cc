#include "net/sockets/outside_address.h"

#include <gtest/gtest.h>

namespace trainyard::sockets {
namespace {

using boost::asio::ip::make_address;

TEST(OutsideAddress, IsNoNetworkOfThisMachineOrOfItsSite) {
  for (const char* inside :
       {"127.0.0.1", "127.8.8.8", "::1", "0.0.0.0", "::", "169.254.169.254", "fe80::1", "224.0.0.1",
        "ff02::1", "255.255.255.255",
        // private, shared, unique local
        "10.0.0.1", "10.255.255.254", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
        "100.127.255.255", "fc00::1", "fdab::1", "fec0::1",
        // the metadata services of clouds
        "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192",
        // others by which an IPv4 address is reached
        "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:10.0.0.1", "::10.0.0.1", "::127.0.0.1",
        "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b::127.0.0.1", "64:ff9b:1::1",
        "2002:a00:1::1", "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:f5ff:fffe",
        // nobody's
        "198.18.0.1", "198.19.255.255", "240.0.0.1", "0.1.2.3", "100::1", "4000::1", "5f00::1"})
    EXPECT_FALSE(IsOutside(make_address(inside))) << inside;
}

TEST(OutsideAddress, IsWhatEverybodyReaches) {
  for (const char* outside : {"203.0.113.7",
                              "2001:db8::1",
                              "1.1.1.1",
                              "9.255.255.255",
                              "11.0.0.0",
                              "100.63.255.255",
                              "100.128.0.0",
                              "151.101.0.223",
                              "168.63.129.15",
                              "169.253.255.255",
                              "172.15.255.255",
                              "172.32.0.0",
                              "192.0.1.0",
                              "192.167.255.255",
                              "198.17.255.255",
                              "198.20.0.0",
                              "223.255.255.255",
                              "2606:4700::1111",
                              "2a04:4e42::223",
                              "2001:200::1",
                              "::ffff:151.101.0.223",
                              "64:ff9b::151.101.0.223"})
    EXPECT_TRUE(IsOutside(make_address(outside))) << outside;
}

TEST(OutsideAddress, IsReachedByOtherWaysOfWritingIt) {
  EXPECT_EQ(ReachedAddress(make_address("::ffff:10.1.2.3")), make_address("10.1.2.3"));
  EXPECT_EQ(ReachedAddress(make_address("64:ff9b::10.1.2.3")), make_address("10.1.2.3"));
  EXPECT_EQ(ReachedAddress(make_address("2606:4700::1111")), make_address("2606:4700::1111"));
}

}  // namespace
}  // namespace trainyard::sockets
