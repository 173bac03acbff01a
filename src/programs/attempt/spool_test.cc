#include "programs/attempt/spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/async/file.h"
#include "base/async/testing/temporary_folder.h"

namespace trainyard::replica {
namespace {

v1::LogChunk Chunk(std::int64_t first_line, int count, std::size_t bytes = 10) {
  v1::LogChunk chunk;
  chunk.set_first_line(first_line);
  chunk.set_line_count(count);
  chunk.set_lines(std::string(bytes, static_cast<char>('a' + first_line % 26)));
  return chunk;
}

/// The same with stamps.
v1::LogChunk Stamped(std::int64_t first_line, int count, std::size_t bytes = 10) {
  v1::LogChunk chunk = Chunk(first_line, count, bytes);
  chunk.set_first_stamp(static_cast<std::uint64_t>(1001 + 2 * first_line));
  chunk.set_last_stamp(static_cast<std::uint64_t>(1001 + 2 * (first_line + count - 1)));
  return chunk;
}

/// Shows a chunk as "10-19", and whether it replaces lost lines; its stamps must be those of the lines.
std::string Shown(const std::optional<std::string>& content) {
  v1::LogChunk chunk;
  if (!content || !chunk.ParseFromString(*content)) return "nothing";
  const std::int64_t last = chunk.first_line() + chunk.line_count() - 1;
  EXPECT_EQ(chunk.first_stamp(), static_cast<std::uint64_t>(1001 + 2 * chunk.first_line()));
  EXPECT_EQ(chunk.last_stamp(), static_cast<std::uint64_t>(1001 + 2 * last));
  std::string shown = std::to_string(chunk.first_line()) + "-" + std::to_string(last);
  v1::LogLines lines;
  if (!lines.ParseFromString(chunk.lines()) || lines.line_size() == 0) return shown;
  EXPECT_EQ(lines.line_size(), chunk.line_count());
  EXPECT_THAT(lines.line(0).text(), testing::HasSubstr(std::to_string(chunk.first_line() + 1)));
  EXPECT_THAT(lines.line(0).text(), testing::HasSubstr("not in this log"));
  return shown + " missing";
}

void Overwrite(const std::string& file, std::int64_t at, const std::string& bytes) {
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(at) << bytes;
}

/// Damage to a segment of four chunks of ten lines, and what is found after the first one.
struct Damage {
  const char* name;
  std::function<void(const std::string& file)> make;
  const char* then;
  std::vector<std::string> behind{};
};

std::int64_t QuarterOf(const std::string& file) {
  return static_cast<std::int64_t>(std::filesystem::file_size(file)) / 4 + 1;  // in the second record
}

const std::vector<Damage> kDamages = {
    {.name = "a_content",
     .make = [](const std::string& file) { Overwrite(file, QuarterOf(file) + 20, "?"); },
     .then = "10-19 missing",
     .behind = {"20-29", "30-39"}},
    {.name = "a_size",
     .make = [](const std::string& file) { Overwrite(file, QuarterOf(file), "\xff\xff\xff\xff"); },
     .then = "10-19 missing",
     .behind = {"20-29", "30-39"}},
    {.name = "zeros_to_the_end",
     .make =
         [](const std::string& file) {
           const std::int64_t at = QuarterOf(file);
           Overwrite(file, at,
                     std::string(std::filesystem::file_size(file) - static_cast<std::uintmax_t>(at), '\0'));
         },
     .then = "10-39 missing"},
    {.name = "cut_off",
     .make =
         [](const std::string& file) {
           std::filesystem::resize_file(file, static_cast<std::uintmax_t>(QuarterOf(file)));
         },
     .then = "10-39 missing"},
};

class SpoolTest : public testing::Test {
 protected:
  std::vector<std::int64_t> TakeAll() {
    std::vector<std::int64_t> lines;
    for (;;) {
      const auto next = spool_.TakeNext();
      EXPECT_TRUE(next.has_value());
      if (!next->has_value()) return lines;
      v1::LogChunk chunk;
      EXPECT_TRUE(chunk.ParseFromString(**next));
      lines.push_back(chunk.first_line());
    }
  }
  std::size_t Files() {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path() + "/spool";
  Spool spool_ = *Spool::Create(path_);
};

using Lines = std::vector<std::int64_t>;

TEST_F(SpoolTest, SecondStartIsRefused) {
  const auto again = Spool::Create(path_);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, Code::kAlreadyExists);
}

TEST_F(SpoolTest, SendsInOrderAndAgainAfterARewind) {
  for (std::int64_t i = 0; i < 4; ++i) ASSERT_TRUE(spool_.Append(Chunk(i * 10, 10)).has_value());
  EXPECT_EQ(TakeAll(), (Lines{0, 10, 20, 30}));
  EXPECT_TRUE(spool_.all_sent());
  spool_.Acknowledge(20);
  spool_.Rewind();
  EXPECT_FALSE(spool_.all_sent());
  EXPECT_EQ(TakeAll(), (Lines{20, 30}));
}

TEST_F(SpoolTest, SkipsWhatTheServerAlreadyHas) {
  for (std::int64_t i = 0; i < 4; ++i) ASSERT_TRUE(spool_.Append(Chunk(i * 10, 10)).has_value());
  spool_.Acknowledge(30);
  EXPECT_EQ(TakeAll(), (Lines{30}));
}

TEST_F(SpoolTest, BoundsWhatIsInFlight) {
  for (std::int64_t i = 0; i < 30; ++i) ASSERT_TRUE(spool_.Append(Chunk(i, 1, 100'000)).has_value());
  const Lines first = TakeAll();
  EXPECT_EQ(first.size(), 11U);  // the first chunk over 1 MiB closes the window
  spool_.Acknowledge(11);
  EXPECT_EQ(TakeAll().front(), 11);
}

TEST_F(SpoolTest, RemovesAcknowledgedSegments) {
  for (std::int64_t i = 0; i < 20; ++i) ASSERT_TRUE(spool_.Append(Chunk(i, 1, 1 << 20)).has_value());
  EXPECT_EQ(Files(), 5U);
  for (std::int64_t i = 0; i < 20; ++i) {
    TakeAll();
    spool_.Acknowledge(i + 1);
  }
  EXPECT_EQ(Files(), 0U);
  EXPECT_EQ(spool_.bytes(), 0);
  ASSERT_TRUE(spool_.Append(Chunk(20, 1)).has_value());
  EXPECT_EQ(TakeAll(), (Lines{20}));
}

TEST_F(SpoolTest, ReadSpoolFindsWhatIsLeft) {
  for (std::int64_t i = 0; i < 9; ++i) ASSERT_TRUE(spool_.Append(Chunk(i * 2, 2, 1 << 20)).has_value());
  const auto chunks = ReadSpool(path_, 5);
  ASSERT_TRUE(chunks.has_value());
  ASSERT_EQ(chunks->size(), 7U);
  EXPECT_EQ(chunks->front().first_line(), 4);
  EXPECT_EQ(chunks->back().first_line(), 16);
}

TEST_F(SpoolTest, ReadSpoolLeavesOutATornEnd) {
  for (std::int64_t i = 0; i < 3; ++i) ASSERT_TRUE(spool_.Append(Chunk(i, 1)).has_value());
  const std::string file = std::filesystem::directory_iterator(path_)->path();
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 3);
  const auto chunks = ReadSpool(path_, 0);
  ASSERT_TRUE(chunks.has_value());
  EXPECT_EQ(chunks->size(), 2U);
}

TEST_F(SpoolTest, ReadSpoolOfNothingIsEmpty) { EXPECT_TRUE(ReadSpool(folder_.path() + "/none", 0)->empty()); }

TEST_F(SpoolTest, DamageIsPassedOverAndSaid) {
  for (const Damage& damage : kDamages) {
    const std::string path = folder_.path() + "/" + damage.name;
    Spool spool = *Spool::Create(path);
    for (std::int64_t i = 0; i < 4; ++i) ASSERT_TRUE(spool.Append(Stamped(i * 10, 10)).has_value());
    damage.make(std::filesystem::directory_iterator(path)->path());
    for (int round = 0; round < 2; ++round) {  // also when they are sent again
      EXPECT_EQ(Shown(*spool.TakeNext()), "0-9") << damage.name;
      EXPECT_EQ(Shown(*spool.TakeNext()), damage.then) << damage.name;
      for (const std::string& behind : damage.behind)
        EXPECT_EQ(Shown(*spool.TakeNext()), behind) << damage.name;
      EXPECT_EQ(*spool.TakeNext(), std::nullopt) << damage.name;
      EXPECT_TRUE(spool.all_sent());
      spool.Rewind();
    }
    ASSERT_TRUE(spool.Append(Stamped(40, 1)).has_value());
    while (Shown(*spool.TakeNext()) != "40-40") ASSERT_FALSE(spool.all_sent()) << damage.name;
    spool.Acknowledge(41);
    EXPECT_EQ(spool.bytes(), 0) << damage.name;
  }
}

TEST_F(SpoolTest, ReadSpoolGoesOnBehindDamage) {
  for (const Damage& damage : kDamages) {
    const std::string path = folder_.path() + "/" + damage.name;
    Spool spool = *Spool::Create(path);
    for (std::int64_t i = 0; i < 4; ++i) ASSERT_TRUE(spool.Append(Stamped(i * 10, 10)).has_value());
    damage.make(std::filesystem::directory_iterator(path)->path());
    const auto chunks = *ReadSpool(path, 0);
    std::vector<std::string> shown;
    for (const v1::LogChunk& chunk : chunks) shown.push_back(Shown(chunk.SerializeAsString()));
    std::vector<std::string> wanted = {"0-9"};  // damage at the end may be an interrupted write
    if (!damage.behind.empty()) wanted.emplace_back(damage.then);
    wanted.insert(wanted.end(), damage.behind.begin(), damage.behind.end());
    EXPECT_EQ(shown, wanted) << damage.name;
  }
}

TEST_F(SpoolTest, ReadSpoolSaysWhichSegmentIsGone) {
  for (std::int64_t i = 0; i < 9; ++i) ASSERT_TRUE(spool_.Append(Stamped(i * 2, 2, 1 << 20)).has_value());
  std::filesystem::remove(path_ + "/0000000000000000.log");
  const auto chunks = *ReadSpool(path_, 3);
  ASSERT_GE(chunks.size(), 2U);
  EXPECT_EQ(Shown(chunks[0].SerializeAsString()), "3-7 missing");
  EXPECT_EQ(Shown(chunks[1].SerializeAsString()), "8-9");
}

TEST_F(SpoolTest, SyncsWhatIsNotAcknowledged) {
  EXPECT_TRUE(spool_.Sync().has_value());
  ASSERT_TRUE(spool_.Append(Stamped(0, 1)).has_value());
  std::filesystem::remove_all(path_);
  EXPECT_FALSE(spool_.Sync().has_value()) << "the directory was not synced";
  TakeAll();
  spool_.Acknowledge(1);
  EXPECT_TRUE(spool_.Sync().has_value()) << "the server has it";
}

std::string Record(std::int64_t first_line, int count) {
  v1::LogChunk chunk;
  chunk.set_first_line(first_line);
  chunk.set_line_count(count);
  chunk.set_lines("text");
  return SpoolRecord(chunk.SerializeAsString());
}

TEST(FindChunk, PassesOverWhatIsNoRecord) {
  for (const std::string& rubbish :
       {std::string(), std::string("x"), std::string(1000, '\0'), std::string("\x08\x08\x08"),
        Record(1, 1).substr(3), SpoolRecord("") + SpoolRecord("no chunk")}) {
    const auto found = FindChunk(rubbish + Record(0, 3) + Record(3, 1), {});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->begin, rubbish.size());
    EXPECT_EQ(found->size, Record(0, 3).size());
    EXPECT_EQ(found->chunk.line_count(), 3);
  }
  EXPECT_FALSE(FindChunk("", {}));
  EXPECT_FALSE(FindChunk(Record(0, 3).substr(0, 10), {}));
}

/// A program can print bytes that look like a record.
TEST(FindChunk, TakesOnlyLinesThatAreLookedFor) {
  const std::string bytes = Record(5, 3);
  EXPECT_TRUE(FindChunk(bytes, {.begin = 5, .end = 8}));
  EXPECT_FALSE(FindChunk(bytes, {.begin = 6, .end = 9}));
  EXPECT_FALSE(FindChunk(bytes, {.begin = 5, .end = 7}));
  EXPECT_FALSE(FindChunk(Record(5, 0), {}));
  EXPECT_FALSE(FindChunk(Record(-1, 1), {}));
}

TEST(MissingLines, AreAsManyAsWereLost) {
  const v1::LogChunk chunk = MissingLines({.begin = 4, .end = 7}, 101);
  v1::LogLines lines;
  ASSERT_TRUE(lines.ParseFromString(chunk.lines()));
  ASSERT_EQ(lines.line_size(), 3);
  EXPECT_EQ(chunk.line_count(), 3);
  EXPECT_EQ(lines.line(0).text(),
            "Lines 5 to 7 are not in this log: the disk lost them before the server received them.");
  EXPECT_EQ(lines.line(1).text(), "");
  EXPECT_EQ(chunk.first_stamp(), 95U);
  EXPECT_EQ(lines.line(2).stamp(), 99U);
  EXPECT_EQ(chunk.last_stamp(), 99U);
}

TEST(MissingLines, OfOneChunkAreNotTooMany) {
  const v1::LogChunk chunk = MissingLines({.begin = 0, .end = 3 * kMissingLinesMax}, 1'000'001);
  EXPECT_EQ(chunk.line_count(), kMissingLinesMax);
  EXPECT_EQ(MissingLines({.begin = 0, .end = 10}, 5).first_stamp(), 1U) << "the time is damaged, too";
}

TEST(SpoolRecord, ComesBack) {
  const std::string bytes = SpoolRecord("one") + SpoolRecord("") + SpoolRecord(std::string(1000, 'x'));
  std::string_view rest = bytes;
  std::string_view content;
  ASSERT_TRUE(TakeSpoolRecord(rest, content));
  EXPECT_EQ(content, "one");
  ASSERT_TRUE(TakeSpoolRecord(rest, content));
  EXPECT_EQ(content, "");
  ASSERT_TRUE(TakeSpoolRecord(rest, content));
  EXPECT_EQ(content, std::string(1000, 'x'));
  EXPECT_FALSE(TakeSpoolRecord(rest, content));
}

TEST(SpoolRecord, TornAtAnyByteIsNoRecord) {
  const std::string bytes = SpoolRecord("content");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::string_view rest = std::string_view(bytes).substr(0, size);
    std::string_view content = "untouched";
    EXPECT_FALSE(TakeSpoolRecord(rest, content)) << size;
    EXPECT_EQ(content, "untouched");
  }
}

TEST(SpoolRecord, AnyFlippedBitIsNoticed) {
  const std::string bytes = SpoolRecord("content");
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    std::string_view rest = damaged;
    std::string_view content;
    EXPECT_FALSE(TakeSpoolRecord(rest, content)) << bit;
  }
}

}  // namespace
}  // namespace trainyard::replica
