#include "net/sockets/metrics_address.h"

#include <gtest/gtest.h>

namespace trainyard::sockets {
namespace {

TEST(ParseMetricsAddress, ReadsWhatAnOperatorWrites) {
  EXPECT_EQ(ParseMetricsAddress("9090").value(), (MetricsAddress{.host = "127.0.0.1", .port = 9090}));
  EXPECT_EQ(ParseMetricsAddress("0.0.0.0:0").value(), (MetricsAddress{.host = "0.0.0.0", .port = 0}));
  EXPECT_EQ(ParseMetricsAddress("[::1]:9090").value(), (MetricsAddress{.host = "::1", .port = 9090}));
}

TEST(ParseMetricsAddress, NamesTheFlag) {
  for (const char* text : {"", ":", "host:", ":90", "host:99999", "host:9x"}) {
    const auto parsed = ParseMetricsAddress(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().field, "--metrics-listen");
  }
}

}  // namespace
}  // namespace trainyard::sockets
