#include "stores/logs/chunk_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "stores/logs/sample_chunk.h"

namespace trainyard::logs {
namespace {

using replica::v1::LogChunk;

LogChunk Sample() {
  return SampleChunk({.texts = {"a", std::string(300, 'b'), "", "d"}, .first_stamp = 101});
}

TEST(LineReader, YieldsEveryLineWithItsStamp) {
  const LogChunk chunk = Sample();
  LineReader reader(chunk.lines());
  std::vector<std::uint64_t> stamps;
  std::vector<std::string> texts;
  while (auto line = reader.Next()) {
    stamps.push_back(line->stamp);
    replica::v1::LogLine parsed;
    ASSERT_TRUE(parsed.ParseFromArray(line->bytes.data(), static_cast<int>(line->bytes.size())));
    texts.push_back(parsed.text());
  }
  EXPECT_FALSE(reader.Damaged());
  EXPECT_THAT(stamps, testing::ElementsAre(101, 103, 105, 107));
  EXPECT_THAT(texts, testing::ElementsAre("a", std::string(300, 'b'), "", "d"));
}

TEST(LineReader, StopsAtEveryCut) {
  const std::string lines = Sample().lines();
  for (std::size_t size = 0; size < lines.size(); ++size) {
    LineReader reader(std::string_view(lines).substr(0, size));
    int count = 0;
    while (reader.Next()) ++count;
    EXPECT_LT(count, 4) << size;
    LogChunk cut = Sample();
    cut.set_lines(lines.substr(0, size));
    EXPECT_FALSE(CheckChunk(cut)) << size;
  }
}

TEST(CheckChunk, AcceptsWhatSupervisorsSend) {
  EXPECT_TRUE(CheckChunk(Sample()));
  EXPECT_TRUE(CheckChunk(SampleChunk({})));
}

struct Damage {
  const char* name;
  std::function<void(LogChunk&)> inflict;
};

void ChangeLines(LogChunk& chunk, const std::function<void(replica::v1::LogLines&)>& change) {
  replica::v1::LogLines lines;
  lines.ParseFromString(chunk.lines());
  change(lines);
  lines.SerializeToString(chunk.mutable_lines());
}

class CheckChunkRefuses : public testing::TestWithParam<Damage> {};

TEST_P(CheckChunkRefuses, WithItsField) {
  LogChunk chunk = Sample();
  GetParam().inflict(chunk);
  const Status status = CheckChunk(chunk);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kInvalidArgument);
  EXPECT_EQ(status.error().field, "log");
}

INSTANTIATE_TEST_SUITE_P(
    Damages, CheckChunkRefuses,
    testing::Values(
        Damage{"negative_first", [](LogChunk& chunk) { chunk.set_first_line(-1); }},
        Damage{"negative_count", [](LogChunk& chunk) { chunk.set_line_count(-1); }},
        Damage{"one_too_many", [](LogChunk& chunk) { chunk.set_line_count(5); }},
        Damage{"one_too_few", [](LogChunk& chunk) { chunk.set_line_count(3); }},
        Damage{"first_stamp", [](LogChunk& chunk) { chunk.set_first_stamp(99); }},
        Damage{"last_stamp", [](LogChunk& chunk) { chunk.set_last_stamp(109); }},
        Damage{
            "even",
            [](LogChunk& chunk) { ChangeLines(chunk, [](auto& l) { l.mutable_line(1)->set_stamp(104); }); }},
        Damage{
            "equal",
            [](LogChunk& chunk) { ChangeLines(chunk, [](auto& l) { l.mutable_line(1)->set_stamp(101); }); }},
        Damage{
            "back",
            [](LogChunk& chunk) { ChangeLines(chunk, [](auto& l) { l.mutable_line(2)->set_stamp(101); }); }},
        Damage{
            "none",
            [](LogChunk& chunk) { ChangeLines(chunk, [](auto& l) { l.mutable_line(1)->clear_stamp(); }); }},
        Damage{"far_future",
               [](LogChunk& chunk) {
                 ChangeLines(chunk, [](auto& l) { l.mutable_line(3)->set_stamp(~std::uint64_t{0}); });
                 chunk.set_last_stamp(~std::uint64_t{0});
               }},
        Damage{"not_lines", [](LogChunk& chunk) { chunk.set_lines("garbage"); }},
        Damage{"endless_length", [](LogChunk& chunk) { chunk.set_lines("\x0a\xff\xff\xff\xff\xff\xff"); }},
        Damage{"too_large", [](LogChunk& chunk) { chunk.mutable_lines()->append(kChunkBytesMax, ' '); }}),
    [](const auto& row) { return row.param.name; });

TEST(CutChunk, DropsLinesAndKeepsSpansShort) {
  const LogChunk chunk =
      SampleChunk({.first_line = 10, .texts = NumberedTexts("t", 7), .first_stamp = 1, .step = 100});
  const std::vector<LogChunk> pieces = CutChunk(chunk, 2, 250);
  ASSERT_EQ(pieces.size(), 2U);
  std::int64_t next = 12;
  int text = 2;
  for (const LogChunk& piece : pieces) {
    EXPECT_TRUE(CheckChunk(piece));
    EXPECT_EQ(piece.first_line(), next);
    next += piece.line_count();
    EXPECT_LE(piece.last_stamp() - piece.first_stamp(), 250U);
    replica::v1::LogLines lines;
    ASSERT_TRUE(lines.ParseFromString(piece.lines()));
    for (const auto& line : lines.line()) EXPECT_EQ(line.text(), "t" + std::to_string(text++));
  }
  EXPECT_EQ(next, 17);
}

TEST(CutChunk, KeepsLongLines) {
  const LogChunk chunk = SampleChunk({.texts = {"x", std::string(20'000, 'y'), std::string(200, 'z')}});
  const std::vector<LogChunk> pieces = CutChunk(chunk, 1, 1'000'000);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_TRUE(CheckChunk(pieces[0]));
  EXPECT_EQ(pieces[0].line_count(), 2);
}

TEST(ShownTime, IncreasesAndStaysOdd) {
  EXPECT_EQ(ShownTime(101, -1, 0), 101);
  EXPECT_EQ(ShownTime(101, 101, 0), 103);
  EXPECT_EQ(ShownTime(101, 99, 0), 101);
  EXPECT_EQ(ShownTime(1, -1, 0), 1);
  std::int64_t last = 1001;
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::int64_t shown = ShownTime(static_cast<std::uint64_t>(901 + 6 * i), 1001, i);
    EXPECT_GT(shown, last);
    EXPECT_EQ(shown % 2, 1);
    last = shown;
  }
  EXPECT_EQ(last, 901 + 6 * 99) << "own stamps win once they are ahead";
}

}  // namespace
}  // namespace trainyard::logs
