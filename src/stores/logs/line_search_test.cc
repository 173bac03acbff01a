#include "stores/logs/log_lines.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "stores/logs/testing/line_log_fixture.h"

namespace trainyard::logs {
namespace {

using control::v1::LogMatches;
using logging::v2::LogEntry;
using testing::ElementsAre;

class LineSearch : public LineLogTest {
 protected:
  static constexpr SearchLimits kNoLimits{.time = std::chrono::hours(1), .lines = 1'000'000'000};

  LogMatches Search(SearchQuery query, SearchLimits limits = kNoLimits) {
    query.job_uid = 1;
    return SearchLines(*chunks_, query, limits).value();
  }
  static std::vector<std::int64_t> Numbers(const LogMatches& matches) {
    std::vector<std::int64_t> numbers;
    for (const auto& line : matches.lines()) numbers.push_back(line.number());
    return numbers;
  }
  /// All answers, one after the other.
  std::vector<std::int64_t> All(SearchQuery query, SearchLimits limits = kNoLimits) {
    std::vector<std::int64_t> all;
    for (int asked = 0; asked < 10'000; ++asked) {
      const LogMatches matches = Search(query, limits);
      for (const std::int64_t number : Numbers(matches)) all.push_back(number);
      if (matches.complete()) return all;
      query.from = matches.searched_to();
    }
    ADD_FAILURE() << "answers without end";
    return all;
  }
};

TEST_F(LineSearch, FindsEachLineOnceHoweverItIsCut) {
  WriteMany(5000, 70);
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < 5000; ++i)
    if (std::to_string(i).contains("49")) expected.push_back(i);
  std::vector<std::int64_t> reversed(expected.rbegin(), expected.rend());
  for (const bool regex : {false, true}) {
    const std::string text = regex ? "LINE [0-9]*49" : "49";
    for (const int count : {1, 7, 1000}) {
      for (const std::int64_t lines : {1000L, 1'000'000L}) {
        const SearchLimits limits{.time = std::chrono::hours(1), .lines = lines};
        EXPECT_EQ(All({.text = text, .regex = regex, .count = count}, limits), expected);
        EXPECT_EQ(All({.text = text, .regex = regex, .backward = true, .count = count}, limits), reversed);
      }
    }
  }
}

TEST_F(LineSearch, MakesProgressWithoutTime) {
  WriteMany(500, 70);
  const SearchLimits none{.time = std::chrono::milliseconds(0), .lines = 0};
  EXPECT_THAT(All({.text = "line 499"}, none), ElementsAre(499));
  EXPECT_THAT(All({.text = "line 0", .backward = true}, none), ElementsAre(0));
  EXPECT_THAT(All({.text = "line .*99$", .regex = true}, none), ElementsAre(99, 199, 299, 399, 499));
}

/// An expression that takes 10 us a byte: ten lines would take a minute.
TEST_F(LineSearch, EndsWithinALongLine) {
  std::string text;
  for (std::uint32_t i = 0, x = 1; i < 200'000; ++i, x = x * 1664525 + 1013904223)
    text += static_cast<char>('a' + (x >> 29));
  for (std::uint64_t i = 0; i < 3; ++i) Write("master-replica-0", kStart + 1000 * i, {{text}, {"short"}});
  const SearchQuery query{.text = "[ab].{300}!|short", .regex = true};
  const LogMatches none = Search(query, {.time = std::chrono::milliseconds(0)});
  EXPECT_EQ(none.searched_to(), 1) << "a line that takes too long is left out";
  EXPECT_FALSE(none.complete());
  SearchQuery second = query;
  second.from = 1;
  const LogMatches next = Search(second, {.time = std::chrono::milliseconds(0)});
  EXPECT_THAT(Numbers(next), ElementsAre(1));
  EXPECT_EQ(next.searched_to(), 2) << "the second line is left to the next search";
}

TEST_F(LineSearch, StartsWhereItIsTold) {
  WriteMany(1000, 70);
  EXPECT_THAT(Numbers(Search({.text = "99", .from = 500, .count = 2})), ElementsAre(599, 699));
  EXPECT_THAT(Numbers(Search({.text = "99", .from = 599, .count = 2})), ElementsAre(599, 699));
  EXPECT_THAT(Numbers(Search({.text = "99", .from = 599, .backward = true, .count = 2})),
              ElementsAre(499, 399));
  const LogMatches beyond = Search({.text = "99", .from = 1'000'000});
  EXPECT_TRUE(beyond.complete());
  EXPECT_EQ(beyond.searched_to(), 1000);
}

TEST_F(LineSearch, LooksOnlyAtWhatTheFilterWants) {
  WriteMany(1000, 70);
  const LineFilter errors{.severity_min = LogEntry::ERROR};
  EXPECT_THAT(Numbers(Search({.text = "line 1", .filter = errors})), ElementsAre(199));
  const LineFilter worker{.replica = "worker-replica-1"};
  EXPECT_THAT(Numbers(Search({.text = "line 7", .count = 3, .filter = worker})), ElementsAre(70, 71, 72));
  EXPECT_TRUE(Search({.text = "line", .filter = {.replica = "nobody"}}).complete());
}

/// Bytes of a chunk that are not text: names and values of fields, stamps, tags, bytes that span two lines.
TEST_F(LineSearch, FindsTextsAndNothingElse) {
  replica::v1::LogLines packed;
  for (const char* text : {"one", "two", "three"}) {
    replica::v1::LogLine& line = *packed.add_line();
    line.set_stamp(kStart + 2 * static_cast<std::uint64_t>(packed.line_size()));
    line.set_text(text);
    (*line.mutable_json()->mutable_fields())["secretfield"].set_string_value("three");
  }
  WritePacked("master-replica-0", packed);
  for (const bool match_case : {false, true}) {
    EXPECT_THAT(Numbers(Search({.text = "three", .match_case = match_case})), ElementsAre(2));
    EXPECT_THAT(Numbers(Search({.text = "secretfield", .match_case = match_case})), ElementsAre());
    EXPECT_THAT(Numbers(Search({.text = "\x1a", .match_case = match_case})), ElementsAre());
    EXPECT_THAT(Numbers(Search({.text = "three", .match_case = match_case, .backward = true})),
                ElementsAre(2));
  }
}

TEST_F(LineSearch, LooksThroughColours) {
  std::vector<SampleLine> lines;
  for (int i = 0; i < 300; ++i) {
    const std::string number = std::to_string(i);
    const bool coloured = i % 3 == 0;
    lines.push_back({coloured ? "\x1b[32mstep\x1b[0m " + number + ";" : "step " + number + ";"});
  }
  for (std::uint64_t chunk = 0; chunk < 3; ++chunk) {
    const auto first = lines.begin() + static_cast<std::ptrdiff_t>(100 * chunk);
    Write("master-replica-0", kStart + 1000 * chunk, {first, first + 100});
  }
  for (const bool match_case : {false, true}) {
    EXPECT_THAT(All({.text = "step 150;", .match_case = match_case, .count = 1}), ElementsAre(150));
    EXPECT_THAT(All({.text = "step 151;", .match_case = match_case, .count = 1}), ElementsAre(151));
    EXPECT_THAT(All({.text = "p 15", .match_case = match_case, .count = 5}),
                ElementsAre(15, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159));
    EXPECT_THAT(All({.text = "2mstep", .match_case = match_case}), ElementsAre());
    EXPECT_THAT(All({.text = "\x1b[32mstep\x1b[0m 9;", .match_case = match_case}), ElementsAre(9));
    EXPECT_THAT(All({.text = "p 297;", .match_case = match_case, .backward = true}), ElementsAre(297));
  }
  EXPECT_THAT(All({.text = "^step 15[01];$", .regex = true}), ElementsAre(150, 151));
}

TEST_F(LineSearch, OfNoLinesIsComplete) {
  for (const bool backward : {false, true}) {
    const LogMatches matches = Search({.text = "x", .backward = backward});
    EXPECT_TRUE(matches.complete());
    EXPECT_EQ(matches.searched_to(), 0);
  }
}

}  // namespace
}  // namespace trainyard::logs
