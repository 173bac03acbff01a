#include "programs/attempt/spool_chunk.h"

#include <gtest/gtest.h>

#include <string>

#include "programs/attempt/spool_record.h"

namespace trainyard::replica {
namespace {

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
            "Lines 5 to 7 are not in this log: the disk lost them before the server had them.");
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

}  // namespace
}  // namespace trainyard::replica
