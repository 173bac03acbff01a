#include "control/run/store_lines.h"

#include "control/testing/world.h"

namespace trainyard::control {
namespace {

using replica::v1::LogChunk;

class StoreLinesTest : public World {
 protected:
  static LogChunk Chunk(std::int64_t first, const std::vector<std::string>& texts) {
    LogChunk chunk;
    chunk.set_first_line(first);
    chunk.set_line_count(static_cast<std::int32_t>(texts.size()));
    std::uint64_t stamp = static_cast<std::uint64_t>(2 * first + 1);
    chunk.set_first_stamp(stamp);
    replica::v1::LogLines lines;
    for (const std::string& text : texts) {
      lines.add_line()->set_stamp(stamp);
      lines.mutable_line(lines.line_size() - 1)->set_text(text);
      chunk.set_last_stamp(stamp);
      stamp += 2;
    }
    chunk.set_lines(lines.SerializeAsString());
    return chunk;
  }
  Result<std::int64_t> Store(LogChunk chunk) {
    const Result<logs::StoredLines> stored = Await(StoreLines(*logs_, source_, std::move(chunk)));
    if (!stored) return std::unexpected(stored.error());
    return stored->next_line;
  }
  std::vector<std::string> Texts() { return Lines("j", "master-replica-0"); }

  logs::LogSource source_{.job_uid = 1,
                          .project = "p",
                          .job_id = "j",
                          .source = "1-master-replica-0-1",
                          .task_name = "master-replica-0",
                          .trial_id = "",
                          .host_name = "h"};
};

TEST_F(StoreLinesTest, GoodOnesAreStoredOnce) {
  EXPECT_EQ(Store(Chunk(0, {"a", "b"})), 2);
  EXPECT_EQ(Store(Chunk(0, {"a", "b"})), 2);
  EXPECT_EQ(Store(Chunk(1, {"b", "c"})), 3);
  EXPECT_THAT(Texts(), ElementsAre("a", "b", "c"));
}

TEST_F(StoreLinesTest, MissingLinesAreReplacedAndTheRestKept) {
  EXPECT_EQ(Store(Chunk(0, {"a"})), 1);
  EXPECT_EQ(Store(Chunk(3, {"d", "e"})), 5);
  EXPECT_THAT(Texts(), ElementsAre("a", HasSubstr("Lines 2 to 3 are not in this log"), "", "d", "e"));
  EXPECT_EQ(Store(Chunk(5, {"f"})), 6);
}

TEST_F(StoreLinesTest, AMalformedChunkIsReplaced) {
  LogChunk chunk = Chunk(0, {"a", "b"});
  chunk.set_line_count(3);
  EXPECT_EQ(Store(chunk), 3);
  LogChunk even = Chunk(3, {"c"});
  even.set_first_stamp(2);
  EXPECT_EQ(Store(even), 4);
  EXPECT_THAT(Texts(), ElementsAre(HasSubstr("Lines 1 to 3 are not"), "", "", HasSubstr("Line 4 is not")));
}

TEST_F(StoreLinesTest, AMalformedChunkAfterAGap) {
  LogChunk chunk = Chunk(2, {"a"});
  chunk.set_lines("garbage");
  EXPECT_EQ(Store(chunk), 3);
  EXPECT_THAT(Texts(), ElementsAre(HasSubstr("Lines 1 to 2"), "", HasSubstr("Line 3 is")));
}

TEST_F(StoreLinesTest, AMalformedRepetitionOfWhatIsThereIsAcknowledged) {
  EXPECT_EQ(Store(Chunk(0, {"a", "b"})), 2);
  LogChunk chunk = Chunk(0, {"a", "b"});
  chunk.set_lines("garbage");
  EXPECT_EQ(Store(chunk), 2);
  EXPECT_THAT(Texts(), ElementsAre("a", "b"));
}

TEST_F(StoreLinesTest, ImpossibleNumbersAreRefused) {
  LogChunk chunk = Chunk(0, {"a"});
  chunk.set_first_line(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Store(chunk).error().code, Code::kInvalidArgument);
  chunk.set_first_line(-5);
  EXPECT_EQ(Store(chunk).error().code, Code::kInvalidArgument);
  chunk = Chunk(0, {"a"});
  chunk.set_line_count(-1);
  EXPECT_EQ(Store(chunk).error().code, Code::kInvalidArgument);
  chunk.set_line_count(std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(Store(chunk).error().code, Code::kInvalidArgument);
  EXPECT_EQ(Store(Chunk(kMissingLinesMax + 1, {"a"})).error().code, Code::kInvalidArgument);
}

/// As when logs.db was recreated while a replica ran that had written many lines.
TEST_F(StoreLinesTest, ManyMissingLinesAreReplacedInPieces) {
  const std::int64_t first = kReplacedLinesMax + 10;
  EXPECT_EQ(Store(Chunk(first, {"a"})), first + 1);
  EXPECT_EQ(Await(logs_->NextLine(1, source_.source)), first + 1);
}

TEST_F(StoreLinesTest, LinesThatTheirSenderMayHaveAreNotReplaced) {
  EXPECT_EQ(Store(Chunk(0, {"a"})), 1);
  const auto stored = Await(StoreLines(*logs_, source_, Chunk(2, {"c"}), MissingLines::kRefuse));
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(Texts(), ElementsAre("a"));
}

TEST_F(StoreLinesTest, WhatAnEndedAttemptWroteAndIsNotThereIsSaidOnce) {
  EXPECT_EQ(Store(Chunk(0, {"a", "b"})), 2);
  const auto say = [this](std::int64_t written) {
    return Await(SayMissingLines(*logs_, source_, written, clock_.Now(), std::chrono::milliseconds(1)));
  };
  EXPECT_FALSE(say(0));
  EXPECT_FALSE(say(2));
  EXPECT_TRUE(say(5));
  EXPECT_TRUE(say(5));
  EXPECT_THAT(Texts(), ElementsAre("a", "b", HasSubstr("Lines 3 to 5 of this replica's log are lost")));
}

TEST_F(StoreLinesTest, AFullDiskIsTheCallersToWaitFor) {
  logs_->full = true;
  EXPECT_EQ(Store(Chunk(0, {"a"})).error().code, Code::kResourceExhausted);
  bool stored = false;
  boost::asio::co_spawn(loop_.context,
                        StoreLinesAtLast(*logs_, source_, Chunk(0, {"a"}), std::chrono::milliseconds(1)),
                        [&stored](const std::exception_ptr&) { stored = true; });
  ASSERT_TRUE(RunUntil([this] { return logs_->refused > 3; }));
  EXPECT_FALSE(stored);
  logs_->full = false;
  ASSERT_TRUE(RunUntil([&stored] { return stored; }));
  EXPECT_THAT(Texts(), ElementsAre("a"));
}

TEST_F(StoreLinesTest, WhatIsHopelessIsGivenUp) {
  bool done = false;
  boost::asio::co_spawn(loop_.context,
                        StoreLinesAtLast(*logs_, source_, Chunk(-1, {"a"}), std::chrono::milliseconds(1)),
                        [&done](const std::exception_ptr&) { done = true; });
  EXPECT_TRUE(RunUntil([&done] { return done; }));
}

}  // namespace
}  // namespace trainyard::control
