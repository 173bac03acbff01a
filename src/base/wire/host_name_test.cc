#include "base/wire/host_name.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace trainyard::wire
