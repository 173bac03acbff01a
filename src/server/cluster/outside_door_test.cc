#include "server/cluster/outside_door.h"

#include <gtest/gtest.h>

namespace trainyard::server {
namespace {

TEST(OutsideDoor, ReadsConnect) {
  EXPECT_EQ(ParseConnect("CONNECT index.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n"),
            (OutsideTarget{.host = "index.example.com", .port = "443"}));
  EXPECT_EQ(ParseConnect("CONNECT [2001:db8::1]:8080 HTTP/1.0\r\n\r\n"),
            (OutsideTarget{.host = "2001:db8::1", .port = "8080"}));
}

TEST(OutsideDoor, ReadsNothingElse) {
  for (const char* head :
       {"", "CONNECT a:1 HTTP/1.1\r\n", "GET http://a/ HTTP/1.1\r\n\r\n", "CONNECT a HTTP/1.1\r\n\r\n",
        "CONNECT :443 HTTP/1.1\r\n\r\n", "CONNECT a:http HTTP/1.1\r\n\r\n", "CONNECT a:443\r\n\r\n",
        "CONNECT a/b:443 HTTP/1.1\r\n\r\n", "CONNECT a:999999 HTTP/1.1\r\n\r\n"})
    EXPECT_EQ(ParseConnect(head), std::nullopt) << head;
}

TEST(OutsideDoor, IsNotForThisMachine) {
  for (const char* own : {"127.0.0.1", "127.8.8.8", "::1", "0.0.0.0", "::", "169.254.169.254", "fe80::1",
                          "224.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254"})
    EXPECT_FALSE(IsOutside(boost::asio::ip::make_address(own))) << own;
  for (const char* other : {"203.0.113.7", "10.255.255.254", "2001:db8::1"})
    EXPECT_TRUE(IsOutside(boost::asio::ip::make_address(other))) << other;
}

}  // namespace
}  // namespace trainyard::server
