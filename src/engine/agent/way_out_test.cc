#include "engine/agent/node_sockets.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::agent {
namespace {

constexpr const char* kHeader =
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
constexpr const char* kSubnet = "eth0\t006433C6\t00000000\t0001\t0\t0\t0\tE0FFFFFF\t0\t0\t0\n";
constexpr const char* kDefault = "eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n";
const std::string kZeros(32, '0');
const std::string kRefusal6 =
    kZeros + " 00 " + kZeros + " 00 " + kZeros + " ffffffff 00000001 00000000 00200200       lo\n";
const std::string kDefault6 =
    kZeros + " 00 " + kZeros +
    " 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003 eth0\n";

TEST(WayOut, IsADefaultRoute) {
  EXPECT_FALSE(HasWayOut(kHeader, ""));
  EXPECT_FALSE(HasWayOut(std::string(kHeader) + kSubnet, kRefusal6));
  EXPECT_TRUE(HasWayOut(std::string(kHeader) + kDefault + kSubnet, ""));
  EXPECT_TRUE(HasWayOut(kHeader, kDefault6));
  EXPECT_FALSE(HasWayOut("", ""));
}

}  // namespace
}  // namespace trainyard::agent
