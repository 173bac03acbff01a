#include "replica/supervisor/output_pace.h"

#include <gtest/gtest.h>

namespace trainyard::replica {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;
using enum OutputStream;

/// Reads `count` times, every 10 us; the time after them.
OutputPace::Time Reads(OutputPace& pace, int count, std::size_t bytes, OutputPace::Time now) {
  for (int i = 0; i < count; ++i) pace.OnRead(kStdout, bytes, now += microseconds(10));
  return now;
}

TEST(OutputPace, ABurstIsReadAtOnce) {
  OutputPace pace;
  const OutputPace::Time now = Reads(pace, kReadsBeforeRest, 100, OutputPace::Time(seconds(9)));
  EXPECT_EQ(pace.rest_end(kStdout), now);
}

TEST(OutputPace, AStreamThatKeepsWritingRestsBetweenReads) {
  OutputPace pace;
  OutputPace::Time now = Reads(pace, kReadsBeforeRest + 1, 100, OutputPace::Time(seconds(9)));
  EXPECT_EQ(pace.rest_end(kStdout), now + kOutputRest);
  EXPECT_EQ(pace.rest_end(kStderr), OutputPace::Time{});
  now += kOutputRest;
  pace.OnRead(kStdout, 100, now);
  EXPECT_EQ(pace.rest_end(kStdout), now + kOutputRest);
}

TEST(OutputPace, AfterSilenceItIsReadAtOnce) {
  OutputPace pace;
  OutputPace::Time now = Reads(pace, kReadsBeforeRest + 1, 100, OutputPace::Time(seconds(9)));
  now += 2 * kOutputRest;
  pace.OnRead(kStdout, 100, now);
  EXPECT_EQ(pace.rest_end(kStdout), now);
}

TEST(OutputPace, AFullPipeIsReadAtOnce) {
  OutputPace pace;
  OutputPace::Time now = Reads(pace, kReadsBeforeRest + 1, 100, OutputPace::Time(seconds(9)));
  now = Reads(pace, 1, kRestBytesMax, now);
  EXPECT_EQ(pace.rest_end(kStdout), now);
}

}  // namespace
}  // namespace trainyard::replica
