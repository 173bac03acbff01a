#include "programs/sandbox/network/connect_guard.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/un.h>

#include <cstring>

namespace trainyard::replica {
namespace {

std::vector<std::byte> Address(const std::string& text, std::uint16_t port) {
  sockaddr_in v4{.sin_family = AF_INET, .sin_port = htons(port)};
  sockaddr_in6 v6{.sin6_family = AF_INET6, .sin6_port = htons(port)};
  const bool is_v6 = text.contains(':');
  EXPECT_EQ(inet_pton(is_v6 ? AF_INET6 : AF_INET, text.c_str(),
                      is_v6 ? static_cast<void*>(&v6.sin6_addr) : static_cast<void*>(&v4.sin_addr)),
            1);
  std::vector<std::byte> bytes(is_v6 ? sizeof(v6) : sizeof(v4));
  std::memcpy(bytes.data(), is_v6 ? static_cast<void*>(&v6) : static_cast<void*>(&v4), bytes.size());
  return bytes;
}

TEST(ConnectGuard, RefusesThisMachineAndWhatOnlyItReaches) {
  ConnectRule rule = MakeConnectRule({"127.0.0.1:5000", "[::1]:5001", "127.0.0.3"});
  rule.own.push_back(in6_addr{{{0xfd, 0, 0, 7}}});
  struct Row {
    const char* address;
    std::uint16_t port;
    bool refused;
  };
  for (const Row& row :
       {Row{"8.8.8.8", 443, false}, Row{"192.168.1.9", 5000, false}, Row{"127.0.0.1", 5000, false},
        Row{"::ffff:127.0.0.1", 5000, false}, Row{"127.0.0.1", 5001, true}, Row{"127.0.0.2", 5000, true},
        Row{"::1", 5001, false}, Row{"::1", 5000, true}, Row{"127.0.0.3", 80, false},
        Row{"127.0.0.3", 443, false}, Row{"127.0.0.3", 8080, true}, Row{"::ffff:127.0.0.1", 1, true},
        Row{"0.0.0.0", 80, true}, Row{"169.254.169.254", 80, true}, Row{"fe80::1", 80, true},
        Row{"fd00:7::", 80, true}, Row{"fd00:8::", 80, false}, Row{"224.0.0.1", 80, true},
        Row{"2001:4860:4860::8888", 443, false}})
    EXPECT_EQ(IsRefused(rule, Address(row.address, row.port)), row.refused) << row.address << " " << row.port;
}

TEST(ConnectGuard, UnknownMeansNoAndOtherFamiliesGoOn) {
  EXPECT_TRUE(IsRefused({}, {})) << "an address that could not be read";
  sockaddr_un local{.sun_family = AF_UNIX};
  EXPECT_FALSE(IsRefused({}, std::as_bytes(std::span(&local, 1))));
}

}  // namespace
}  // namespace trainyard::replica
