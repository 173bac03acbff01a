#include "base/wire/host_name.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace trainyard::wire {
namespace {

struct NameRow {
  const char* name;
  const char* authority;
  std::optional<std::string> expected;
};

class HostName : public testing::TestWithParam<NameRow> {};

TEST_P(HostName, IsRead) { EXPECT_EQ(HostNameOf(GetParam().authority), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    Rules, HostName,
    testing::Values(NameRow{"plain", "localhost", "localhost"},
                    NameRow{"with_port", "127.0.0.1:8470", "127.0.0.1"},
                    NameRow{"empty_port", "localhost:", "localhost"},
                    NameRow{"upper_case", "ML.LocalHost:1", "ml.localhost"},
                    NameRow{"last_dot", "localhost.:80", "localhost"}, NameRow{"v6", "[::1]:8470", "::1"},
                    NameRow{"v6_without_port", "[::1]", "::1"}, NameRow{"v6_open", "[::1", std::nullopt},
                    NameRow{"v6_and_name", "[::1].evil.example", std::nullopt},
                    NameRow{"v6_bare", "::1", std::nullopt}, NameRow{"empty", "", std::nullopt},
                    NameRow{"port_alone", ":80", std::nullopt},
                    NameRow{"user_before_host", "localhost@evil.example", std::nullopt},
                    NameRow{"port_is_no_number", "localhost:evil", std::nullopt},
                    NameRow{"slash", "localhost/evil.example", std::nullopt},
                    NameRow{"space", "localhost evil.example", std::nullopt}),
    [](const auto& row) { return row.param.name; });

struct LoopbackRow {
  const char* name;
  const char* host;
  bool loopback;
};

class LoopbackName : public testing::TestWithParam<LoopbackRow> {};

TEST_P(LoopbackName, IsTold) { EXPECT_EQ(IsLoopbackName(GetParam().host), GetParam().loopback); }

INSTANTIATE_TEST_SUITE_P(
    Rules, LoopbackName,
    testing::Values(
        LoopbackRow{"localhost", "localhost", true}, LoopbackRow{"below", "ml.localhost", true},
        LoopbackRow{"address", "127.0.0.1", true}, LoopbackRow{"last", "127.255.255.255", true},
        LoopbackRow{"v6", "::1", true}, LoopbackRow{"name_like_it", "127.evil.example", false},
        LoopbackRow{"address_and_name", "127.0.0.1.evil.example", false},
        LoopbackRow{"five_parts", "127.0.0.1.1", false}, LoopbackRow{"three_parts", "127.0.1", false},
        LoopbackRow{"too_big", "127.0.0.256", false}, LoopbackRow{"leading_zero", "127.0.0.01", false},
        LoopbackRow{"huge", "127.0.0.99999999999999999999", false},
        LoopbackRow{"empty_part", "127..0.1", false}, LoopbackRow{"other_net", "128.0.0.1", false},
        LoopbackRow{"any", "0.0.0.0", false}, LoopbackRow{"ends_like_it", "evillocalhost", false},
        LoopbackRow{"begins_like_it", "localhost.evil.example", false}, LoopbackRow{"empty", "", false}),
    [](const auto& row) { return row.param.name; });

using Bytes = std::vector<std::uint8_t>;

struct Row {
  const char* address;
  Bytes bytes;
  AddressKind kind;
};

Bytes V4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) { return {a, b, c, d}; }

Bytes V6(const std::array<std::uint16_t, 8>& words) {
  Bytes bytes;
  for (const std::uint16_t word : words) {
    bytes.push_back(static_cast<std::uint8_t>(word >> 8));
    bytes.push_back(static_cast<std::uint8_t>(word & 0xff));
  }
  return bytes;
}

class KindOfAddressTest : public testing::TestWithParam<Row> {};

TEST_P(KindOfAddressTest, IsByItsRange) {
  EXPECT_EQ(KindOfAddress(GetParam().bytes), GetParam().kind) << GetParam().address;
}

using enum AddressKind;
INSTANTIATE_TEST_SUITE_P(
    Rules, KindOfAddressTest,
    testing::Values(
        Row{"8.8.8.8", V4(8, 8, 8, 8), kOutside}, Row{"126.255.255.255", V4(126, 255, 255, 255), kOutside},
        Row{"127.0.0.1", V4(127, 0, 0, 1), kMachine},
        Row{"127.255.255.254", V4(127, 255, 255, 254), kMachine},
        Row{"128.0.0.1", V4(128, 0, 0, 1), kOutside}, Row{"0.0.0.0", V4(0, 0, 0, 0), kMachine},
        Row{"0.1.2.3", V4(0, 1, 2, 3), kMachine}, Row{"169.254.169.254", V4(169, 254, 169, 254), kMetadata},
        Row{"169.254.170.2", V4(169, 254, 170, 2), kMetadata}, Row{"169.254.1.1", V4(169, 254, 1, 1), kLink},
        Row{"169.253.1.1", V4(169, 253, 1, 1), kOutside},
        Row{"100.100.100.200", V4(100, 100, 100, 200), kMetadata},
        Row{"100.64.0.1", V4(100, 64, 0, 1), kPrivate}, Row{"100.128.0.1", V4(100, 128, 0, 1), kOutside},
        Row{"192.0.0.192", V4(192, 0, 0, 192), kMetadata},
        Row{"168.63.129.16", V4(168, 63, 129, 16), kMetadata}, Row{"10.1.2.3", V4(10, 1, 2, 3), kPrivate},
        Row{"172.16.0.1", V4(172, 16, 0, 1), kPrivate}, Row{"172.32.0.1", V4(172, 32, 0, 1), kOutside},
        Row{"192.168.7.7", V4(192, 168, 7, 7), kPrivate}, Row{"224.0.0.1", V4(224, 0, 0, 1), kNoMachine},
        Row{"240.0.0.1", V4(240, 0, 0, 1), kNoMachine},
        Row{"255.255.255.255", V4(255, 255, 255, 255), kNoMachine},
        Row{"::", V6({0, 0, 0, 0, 0, 0, 0, 0}), kMachine},
        Row{"::1", V6({0, 0, 0, 0, 0, 0, 0, 0x1}), kMachine},
        Row{"::ffff:127.0.0.1", V6({0, 0, 0, 0, 0, 0xffff, 0x7f00, 0x1}), kMachine},
        Row{"::ffff:169.254.169.254", V6({0, 0, 0, 0, 0, 0xffff, 0xa9fe, 0xa9fe}), kMetadata},
        Row{"::ffff:8.8.8.8", V6({0, 0, 0, 0, 0, 0xffff, 0x808, 0x808}), kOutside},
        Row{"::127.0.0.1", V6({0, 0, 0, 0, 0, 0, 0x7f00, 0x1}), kMachine},
        Row{"::7f00:1", V6({0, 0, 0, 0, 0, 0, 0x7f00, 0x1}), kMachine},
        Row{"64:ff9b::7f00:1", V6({0x64, 0xff9b, 0, 0, 0, 0, 0x7f00, 0x1}), kMachine},
        Row{"64:ff9b::a9fe:a9fe", V6({0x64, 0xff9b, 0, 0, 0, 0, 0xa9fe, 0xa9fe}), kMetadata},
        Row{"64:ff9b:1::a9fe:a9fe", V6({0x64, 0xff9b, 0x1, 0, 0, 0, 0xa9fe, 0xa9fe}), kNoMachine},
        Row{"64:ff9b:1:a9fe:a9:fe00::", V6({0x64, 0xff9b, 0x1, 0xa9fe, 0xa9, 0xfe00, 0, 0}), kNoMachine},
        Row{"64:ff9b:2::8.8.8.8", V6({0x64, 0xff9b, 0x2, 0, 0, 0, 0x808, 0x808}), kOutside},
        Row{"2002:7f00:1::", V6({0x2002, 0x7f00, 0x1, 0, 0, 0, 0, 0}), kMachine},
        Row{"2002:808:808::1", V6({0x2002, 0x808, 0x808, 0, 0, 0, 0, 0x1}), kOutside},
        Row{"fd00:ec2::254", V6({0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254}), kMetadata},
        Row{"fd00::1", V6({0xfd00, 0, 0, 0, 0, 0, 0, 0x1}), kPrivate},
        Row{"fc00::1", V6({0xfc00, 0, 0, 0, 0, 0, 0, 0x1}), kPrivate},
        Row{"fe80::1", V6({0xfe80, 0, 0, 0, 0, 0, 0, 0x1}), kLink},
        Row{"febf::1", V6({0xfebf, 0, 0, 0, 0, 0, 0, 0x1}), kLink},
        Row{"fec0::1", V6({0xfec0, 0, 0, 0, 0, 0, 0, 0x1}), kPrivate},
        Row{"ff02::1", V6({0xff02, 0, 0, 0, 0, 0, 0, 0x1}), kNoMachine},
        Row{"2001:4860:4860::8888", V6({0x2001, 0x4860, 0x4860, 0, 0, 0, 0, 0x8888}), kOutside}));

TEST(KindOfAddress, AnotherSizeIsNoAddress) {
  EXPECT_EQ(KindOfAddress({}), kNoMachine);
  EXPECT_EQ(KindOfAddress(Bytes{8, 8, 8, 8, 8}), kNoMachine);
}

}  // namespace
}  // namespace trainyard::wire
