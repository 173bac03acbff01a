#include "stores/logs/log_lines.h"

#include <gmock/gmock.h>

#include <chrono>

#include "base/wire/time.h"
#include "stores/logs/log_database.h"
#include "stores/logs/testing/line_log_fixture.h"

namespace trainyard::logs {
namespace {

using control::v1::LogWindow;
using logging::v2::LogEntry;
using testing::IsEmpty;

class LineWindow : public LineLogTest {
 protected:
  LogWindow Read(WindowPlace place, int count = 3, LineFilter filter = {}, bool whole = false) {
    return ReadWindow(
               *chunks_,
               {.job_uid = 1, .place = place, .count = count, .filter = std::move(filter), .whole = whole})
        .value();
  }
  static std::vector<std::int64_t> Numbers(const LogWindow& window) {
    std::vector<std::int64_t> numbers;
    for (const auto& line : window.lines()) numbers.push_back(line.number());
    return numbers;
  }
};

struct Row {
  const char* name;
  WindowPlace place;
  std::vector<std::int64_t> numbers;
  std::int64_t next;
  std::int64_t previous;
};

/// The log has 1,000 lines in chunks of 7.
TEST_F(LineWindow, IsFoundByNumberTimeAndEnd) {
  WriteMany(1000, 7);
  const auto at = [](std::int64_t line) {  // chunks are 7000 ns apart, their lines 2
    return SysTime(
        std::chrono::nanoseconds(static_cast<std::int64_t>(kStart) + line / 7 * 7000 + line % 7 * 2));
  };
  const std::vector<Row> rows = {
      {"first", FromLine{0}, {0, 1, 2}, 3, -1},
      {"middle, over a chunk's end", FromLine{5}, {5, 6, 7}, 8, 5},
      {"end", FromLine{998}, {998, 999}, -1, 998},
      {"beyond", FromLine{5000}, {}, -1, 1000},
      {"before", BeforeLine{500}, {497, 498, 499}, 500, 497},
      {"before the first", BeforeLine{0}, {}, 0, -1},
      {"before the third", BeforeLine{2}, {0, 1}, 2, -1},
      {"last", AtEnd{}, {997, 998, 999}, -1, 997},
      {"before beyond", BeforeLine{5000}, {997, 998, 999}, -1, 997},
      {"time", FromTime{at(20)}, {20, 21, 22}, 23, 20},
      {"a moment later", FromTime{at(20) + std::chrono::nanoseconds(1)}, {21, 22, 23}, 24, 21},
      {"between chunks", FromTime{at(6) + std::chrono::nanoseconds(100)}, {7, 8, 9}, 10, 7},
      {"long before", FromTime{SysTime()}, {0, 1, 2}, 3, -1},
      {"long after", FromTime{SysTime::max()}, {}, -1, 1000},
  };
  for (const Row& row : rows) {
    const LogWindow window = Read(row.place);
    EXPECT_EQ(window.total(), 1000) << row.name;
    EXPECT_EQ(Numbers(window), row.numbers) << row.name;
    EXPECT_EQ(window.next(), row.next) << row.name;
    EXPECT_EQ(window.previous(), row.previous) << row.name;
  }
}

TEST_F(LineWindow, OfNoLinesIsEmpty) {
  for (const WindowPlace& place :
       {WindowPlace(FromLine{0}), WindowPlace(AtEnd{}), WindowPlace(FromTime{SysTime()})}) {
    const LogWindow window = Read(place);
    EXPECT_EQ(window.total(), 0);
    EXPECT_EQ(window.next(), -1);
    EXPECT_EQ(window.previous(), -1);
    EXPECT_THAT(window.lines(), IsEmpty());
  }
}

/// Page after page, in both directions: each matching line is returned once.
TEST_F(LineWindow, GoesOnWithAnyFilter) {
  WriteMany(1000, 7);
  const std::vector<LineFilter> filters = {{},
                                           {.replica = "worker-replica-1"},
                                           {.severity_min = LogEntry::WARNING},
                                           {.severity_min = LogEntry::ERROR},
                                           {.replica = "worker-replica-0", .severity_min = LogEntry::ERROR},
                                           {.replica = "nobody"},
                                           {.severity_min = LogEntry::CRITICAL}};
  for (const LineFilter& filter : filters) {
    std::vector<std::int64_t> expected;
    for (std::int64_t i = 0; i < 1000; ++i) {
      const bool of_replica =
          filter.replica.empty() || filter.replica == "worker-replica-" + std::to_string(i / 7 % 2);
      const bool severe = filter.severity_min == LogEntry::DEFAULT ||
                          (filter.severity_min == LogEntry::WARNING && i % 10 == 9) ||
                          (filter.severity_min == LogEntry::ERROR && i % 100 == 99);
      if (of_replica && severe) expected.push_back(i);
    }
    std::vector<std::int64_t> forward;
    for (std::int64_t first = 0; first >= 0;) {
      const LogWindow window = Read(FromLine{first}, 13, filter);
      for (const std::int64_t number : Numbers(window)) forward.push_back(number);
      ASSERT_TRUE(window.next() < 0 || window.next() > first);
      first = window.next();
    }
    EXPECT_EQ(forward, expected);
    std::vector<std::int64_t> backward;
    for (std::int64_t before = 1000; before >= 0;) {
      const LogWindow window = Read(BeforeLine{before}, 13, filter);
      const std::vector<std::int64_t> numbers = Numbers(window);
      backward.insert(backward.begin(), numbers.begin(), numbers.end());
      ASSERT_LT(window.previous(), before);
      before = window.previous();
    }
    EXPECT_EQ(backward, expected);
  }
}

TEST_F(LineWindow, ShowsALineAsItIs) {
  replica::v1::LogLines packed;
  replica::v1::LogLine& line = *packed.add_line();
  line.set_stamp(kStart);
  line.set_severity(LogEntry::ERROR);
  line.set_text("no \x1b[31mfile\n<b>");
  (*line.mutable_json()->mutable_fields())["epoch"].set_number_value(3);
  WritePacked("master-replica-0", packed, "7");
  const LogWindow window = Read(FromLine{0});
  ASSERT_EQ(window.lines_size(), 1);
  control::v1::LogLineShown expected;
  *expected.mutable_time() = wire::ToProto(SysTime(std::chrono::nanoseconds(kStart)));
  expected.set_severity(LogEntry::ERROR);
  expected.set_replica("master-replica-0");
  expected.set_trial_id("7");
  expected.set_text("no \x1b[31mfile\n<b>");
  *expected.mutable_json() = line.json();
  EXPECT_EQ(window.lines(0).SerializeAsString(), expected.SerializeAsString());
}

TEST_F(LineWindow, CutsLongTextsAtACharacter) {
  replica::v1::LogLines packed;
  replica::v1::LogLine& line = *packed.add_line();
  line.set_stamp(kStart);
  const std::string text = std::string(kShownTextMax - 1, 'a') + "\u20ac and more";
  line.set_text(text);
  (*line.mutable_json()->mutable_fields())["long"].set_string_value(std::string(2 * kShownTextMax, 'j'));
  WritePacked("master-replica-0", packed);
  const LogWindow window = Read(FromLine{0});
  EXPECT_EQ(window.lines(0).text(), std::string(kShownTextMax - 1, 'a'));
  EXPECT_EQ(window.lines(0).text_bytes(), static_cast<std::int64_t>(text.size()));
  EXPECT_TRUE(window.lines(0).json_left_out());
  EXPECT_FALSE(window.lines(0).has_json());
  const LogWindow whole = Read(FromLine{0}, 1, {}, true);
  EXPECT_EQ(whole.lines(0).text(), text);
  EXPECT_EQ(whole.lines(0).text_bytes(), 0);
  EXPECT_TRUE(whole.lines(0).has_json());
}

TEST_F(LineWindow, IsBoundedInBytes) {
  for (std::uint64_t i = 0; i < 20; ++i)
    Write("master-replica-0", kStart + i * 1000, {{std::string(256 << 10, 'x')}});
  const LogWindow window = Read(FromLine{0}, 20, {}, true);
  EXPECT_LT(window.ByteSizeLong(), kWindowBytesMax + 1000);
  EXPECT_EQ(window.next(), window.lines_size());
  EXPECT_GT(window.lines_size(), 4);
  EXPECT_EQ(Read(FromLine{0}, 20).lines_size(), 20);  // they are cut, and therefore short
}

TEST_F(LineWindow, SaysThatAChunkIsDamaged) {
  Write("master-replica-0", kStart, {{"a"}, {"b"}});
  auto database = OpenLogDatabase(folder_ + "/logs.db", false).value();
  ASSERT_TRUE(database.Execute("UPDATE chunks SET lines = x'0aff'"));
  EXPECT_EQ(ReadWindow(*chunks_, {.job_uid = 1}).error().code, Code::kDataLoss);
}

}  // namespace
}  // namespace trainyard::logs
