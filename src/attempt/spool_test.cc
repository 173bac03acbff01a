#include "attempt/spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "async/file.h"
#include "async/testing/temporary_folder.h"

namespace trainyard::replica {
namespace {

v1::LogChunk Chunk(std::int64_t first_line, int count, std::size_t bytes = 10) {
  v1::LogChunk chunk;
  chunk.set_first_line(first_line);
  chunk.set_line_count(count);
  chunk.set_lines(std::string(bytes, static_cast<char>('a' + first_line % 26)));
  return chunk;
}

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

TEST_F(SpoolTest, DamageIsAnErrorNotASilentGap) {
  ASSERT_TRUE(spool_.Append(Chunk(0, 1)).has_value());
  const std::string file = std::filesystem::directory_iterator(path_)->path();
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(12).put('\xFF');
  EXPECT_EQ(spool_.TakeNext().error().code, Code::kDataLoss);
}

}  // namespace
}  // namespace trainyard::replica
