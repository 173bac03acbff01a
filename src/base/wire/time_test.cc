#include "base/wire/time.h"

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace trainyard::wire {
namespace {

using std::chrono::nanoseconds;

TEST(Time, PrintsFewestDigits) {
  EXPECT_EQ(PrintTime(SysTime(nanoseconds(0))), "1970-01-01T00:00:00Z");
  EXPECT_EQ(PrintTime(SysTime(nanoseconds(500'000'000))), "1970-01-01T00:00:00.500Z");
  EXPECT_EQ(PrintTime(SysTime(nanoseconds(1'000))), "1970-01-01T00:00:00.000001Z");
  EXPECT_EQ(PrintTime(SysTime(nanoseconds(-1))), "1969-12-31T23:59:59.999999999Z");
}

TEST(Time, RoundTripsAtTheEdges) {
  for (const std::int64_t count :
       {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}, std::int64_t{0},
        std::int64_t{1'763'660'557'096'867'001}, std::numeric_limits<std::int64_t>::max()}) {
    const SysTime time{nanoseconds(count)};
    EXPECT_EQ(FromProto(ToProto(time)), time) << count;
    EXPECT_EQ(ParseTime(PrintTime(time)), time) << count;
    EXPECT_EQ(FromProto(ToProto(nanoseconds(count))), nanoseconds(count));
  }
}

TEST(Time, ReadsWhatClientsSend) {
  EXPECT_EQ(ParseTime("1970-01-01T01:00:00.000000000Z"), SysTime(std::chrono::hours(1)));
  EXPECT_EQ(ParseTime("1970-01-01T01:00:00+02:00"), SysTime(std::chrono::hours(-1)));
  EXPECT_EQ(ParseTime("0001-01-01T00:00:00Z"), SysTime::min());
  EXPECT_EQ(ParseTime("9999-12-31T23:59:59Z"), SysTime::max());
  for (const char* bad : {"", "yesterday", "1970-01-01", "1970-01-01T00:00:00", "1970-13-01T00:00:00Z",
                          "1970-01-01T00:00:61Z"}) {
    EXPECT_FALSE(ParseTime(bad).has_value()) << bad;
  }
}

TEST(Duration, PrintsAndParses) {
  EXPECT_EQ(PrintDuration(std::chrono::hours(1)), "3600s");
  EXPECT_EQ(PrintDuration(std::chrono::milliseconds(-1500)), "-1.500s");
  EXPECT_EQ(ParseDuration("1.5s"), std::chrono::milliseconds(1500));
  EXPECT_EQ(ParseDuration("604800s"), std::chrono::hours(168));
  for (const char* bad : {"", "5", "s", "5m", "1e3s", "99999999999s", "x5s", "--0.000000000001s", "1.s",
                          ".5s", "1.0000000001s", "-s", "+1s", " 1s", "1.-5s"}) {
    EXPECT_FALSE(ParseDuration(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace trainyard::wire
