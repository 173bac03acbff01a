#include "stores/logs/log_writer.h"

#include <sys/mount.h>

#include "stores/logs/testing/log_file_fixture.h"

namespace trainyard::logs {
namespace {

using testing::ElementsAre;

class LogWriterTest : public LogFileTest {};

TEST_F(LogWriterTest, NumbersLinesPerSource) {
  const LogSource master = SampleSource(1, "master-replica-0");
  const LogSource worker = SampleSource(1, "worker-replica-0");
  EXPECT_EQ(Append(master, {.texts = {"a", "b"}, .first_stamp = 101})->next_line, 2);
  EXPECT_EQ(Append(worker, {.texts = {"c"}, .first_stamp = 101})->next_line, 1);
  EXPECT_EQ(Append(master, {.first_line = 2, .texts = {"d"}, .first_stamp = 105})->next_line, 3);
  EXPECT_EQ(reader_->NextLine(1, master.source).value(), 3);
  EXPECT_EQ(reader_->NextLine(1, worker.source).value(), 1);
  EXPECT_EQ(reader_->NextLine(2, master.source).value(), 0);
}

TEST_F(LogWriterTest, TimestampsAndInsertIdsIncreaseWithinAJob) {
  const LogSource master = SampleSource(1, "master-replica-0");
  const LogSource worker = SampleSource(1, "worker-replica-0");
  ASSERT_TRUE(Append(master, {.texts = {"a", "b"}, .first_stamp = 1001, .step = 10}));
  ASSERT_TRUE(Append(worker, {.texts = {"c", "d", "e"}, .first_stamp = 501, .step = 508}));  // a clock behind
  ASSERT_TRUE(Append(SampleSource(2, "service"), {.texts = {"other"}, .first_stamp = 5}));
  const auto entries = ReadAll(Request(JobFilter(1)));
  EXPECT_THAT(Texts(entries), ElementsAre("a", "b", "c", "d", "e"));
  std::vector<std::int64_t> times;
  std::vector<std::string> ids;
  for (const auto& entry : entries) times.push_back(Time(entry)), ids.push_back(entry.insert_id());
  EXPECT_THAT(times, ElementsAre(1001, 1011, 1013, 1015, 1517));
  EXPECT_THAT(ids, ElementsAre("0000000000000000", "0000000000000001", "0000000000000002", "0000000000000003",
                               "0000000000000004"));
}

TEST_F(LogWriterTest, StoresRepeatedLinesOnce) {
  const LogSource source = SampleSource(1, "master-replica-0");
  EXPECT_TRUE(Append(source, {.texts = {"a", "b"}})->stored);
  const Result<Appended> again = Append(source, {.texts = {"a", "b"}});
  EXPECT_EQ(again->next_line, 2);
  EXPECT_FALSE(again->stored);
  const Result<Appended> overlap = Append(source, {.texts = {"a", "b", "c", "d"}});
  EXPECT_EQ(overlap->next_line, 4);
  EXPECT_TRUE(overlap->stored);
  EXPECT_FALSE(Append(source, {.first_line = 1, .texts = {"b", "c"}, .first_stamp = 3})->stored);
  EXPECT_EQ(Append(source, {.first_line = 4})->next_line, 4) << "an empty chunk";
  EXPECT_THAT(Texts(ReadAll(Request(JobFilter(1)))), ElementsAre("a", "b", "c", "d"));
}

TEST_F(LogWriterTest, ErasesJobsInSteps) {
  for (const std::int64_t uid : {1, 2, 3}) {
    for (std::int64_t line = 0; line < 3; ++line)
      ASSERT_TRUE(Append(SampleSource(uid, "master-replica-0"), {.first_line = line, .texts = {"a"}}));
  }
  const std::vector<std::int64_t> uids{1, 3, 9};
  const LogWriter::ErasedStep first = writer_->Erase(uids, 2).value();
  EXPECT_FALSE(first.done);
  EXPECT_EQ(first.logs, ErasedLogs()) << "the first job has a chunk left";
  const LogWriter::ErasedStep rest = writer_->Erase(uids, 100).value();
  EXPECT_TRUE(rest.done);
  EXPECT_EQ(rest.logs.jobs, 2);
  EXPECT_GT(rest.logs.bytes, 0);
  EXPECT_EQ(Texts(ReadAll(Request(JobFilter(2)))).size(), 3U);
  EXPECT_TRUE(ReadAll(Request(JobFilter(1))).empty());
  EXPECT_EQ(reader_->NextLine(1, SampleSource(1, "master-replica-0").source).value(), 0);
  const std::vector<OldLog> old = reader_->Older(SysTime::max(), 0, 10).value();
  ASSERT_EQ(old.size(), 1U);
  EXPECT_EQ(old.front().job_uid, 2);
  EXPECT_TRUE(reader_->Older(old.front().last_line, 0, 10)->empty());
  EXPECT_TRUE(reader_->Older(SysTime::max(), 2, 10)->empty());
}

TEST_F(LogWriterTest, RefusesAGapAndHarmsNobodyElse) {
  const LogSource source = SampleSource(1, "master-replica-0");
  ASSERT_TRUE(Append(source, {.texts = {"a"}}));
  std::vector<AppendRequest> requests;
  requests.push_back({source, SampleChunk({.first_line = 1, .texts = {"b"}, .first_stamp = 3})});
  requests.push_back({source, SampleChunk({.first_line = 5, .texts = {"gap"}, .first_stamp = 9})});
  requests.push_back({SampleSource(2, "service"), {}});
  requests.back().chunk.set_line_count(1);
  requests.push_back({source, SampleChunk({.first_line = 2, .texts = {"c"}, .first_stamp = 5})});
  const auto results = writer_->Append(requests);
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[0]->next_line, 2);
  EXPECT_EQ(results[1].error(), InvalidArgument("log", "lines 2 to 4 of 1-master-replica-0-1 are missing"));
  EXPECT_EQ(results[2].error(), InvalidArgument("log", "malformed log chunk: line count"));
  EXPECT_EQ(results[3]->next_line, 3);
  EXPECT_THAT(Texts(ReadAll(Request(JobFilter(1)))), ElementsAre("a", "b", "c"));
}

TEST_F(LogWriterTest, CutsChunksThatSpanTooLong) {
  const LogSource source = SampleSource(1, "master-replica-0");
  ASSERT_TRUE(Append(source, {.texts = NumberedTexts("t", 100), .first_stamp = 1, .step = 1'000'000'000}));
  EXPECT_EQ(Texts(ReadAll(Request(JobFilter(1)))), NumberedTexts("t", 100));
  EXPECT_EQ(reader_->NextLine(1, source.source).value(), 100);
  // Line 55 lies within a chunk that begins before the range.
  const std::string filter =
      "timestamp>=\"1970-01-01T00:00:55.000000001Z\" AND timestamp<\"1970-01-01T00:00:57Z\"";
  EXPECT_THAT(Texts(ReadAll(Request(filter))), ElementsAre("t55", "t56"));
  EXPECT_THAT(Texts(ReadAll(Request(filter, "timestamp desc"))), ElementsAre("t56", "t55"));
}

TEST_F(LogWriterTest, GoesOnWhereItStoppedWhenOpenedAgain) {
  const LogSource source = SampleSource(1, "master-replica-0");
  ASSERT_TRUE(Append(source, {.texts = {"a"}, .first_stamp = 1001}));
  auto request = Request(JobFilter(1), "timestamp asc", 1);
  ASSERT_TRUE(Append(source, {.first_line = 1, .texts = {"b"}, .first_stamp = 1003}));
  request.set_page_token(Read(request)->next_page_token);
  Reopen();
  EXPECT_EQ(reader_->NextLine(1, source.source).value(), 2);
  ASSERT_TRUE(Append(source, {.first_line = 2, .texts = {"c"}, .first_stamp = 3}));
  EXPECT_THAT(Texts(ReadAll(request)), ElementsAre("b", "c"));
}

/// Bytes that count against a job's limit: over sources and restarts, repeated lines once.
TEST_F(LogWriterTest, CountsTheBytesOfAJob) {
  const LogSource master = SampleSource(1, "master-replica-0");
  const LogSource worker = SampleSource(1, "worker-replica-0");
  const std::int64_t line = static_cast<std::int64_t>(SampleChunk({.texts = {"abc"}}).lines().size());
  EXPECT_EQ(Append(master, {.texts = {"abc"}})->job_bytes, line);
  EXPECT_EQ(Append(worker, {.texts = {"abc", "def"}, .first_stamp = 1001})->job_bytes, 3 * line);
  EXPECT_EQ(Append(master, {.texts = {"abc"}})->job_bytes, 3 * line) << "there already";
  EXPECT_EQ(Append(SampleSource(2, "service"), {.texts = {"abc"}})->job_bytes, line);
  Reopen();
  EXPECT_EQ(Append(master, {.first_line = 1, .texts = {"ghi"}, .first_stamp = 2001})->job_bytes, 4 * line);
}

TEST_F(LogWriterTest, AFullDiskRefusesTheGroupAndKeepsTheRest) {
  const std::string disk = folder_ + "/disk";
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=2m") != 0) {
    GTEST_SKIP() << "cannot mount a tmpfs: " << strerror(errno);
  }
  const std::string path = disk + "/logs.db";
  const LogSource source = SampleSource(1, "master-replica-0");
  std::int64_t stored = 0;
  {
    auto writer = LogWriter::Open(path, clock_).value();
    Result<Appended> appended;
    for (int i = 0; i < 1000; ++i) {
      const AppendRequest request{source,
                                  SampleChunk({.first_line = stored,
                                               .texts = {std::string(10'000, 'x')},
                                               .first_stamp = static_cast<std::uint64_t>(2 * i + 1)})};
      appended = writer->Append({&request, 1}).at(0);
      if (!appended) break;
      stored = appended->next_line;
    }
    ASSERT_FALSE(appended) << "10 MB fitted into 2 MB";
    EXPECT_EQ(appended.error(), (ResourceExhausted("logs.db: No space left on device")));
    EXPECT_GT(stored, 10);
  }
  {
    auto writer = LogWriter::Open(path, clock_).value();
    EXPECT_EQ(LogReader::Open(path).value()->NextLine(1, source.source).value(), stored);
  }
  EXPECT_EQ(umount2(disk.c_str(), MNT_DETACH), 0);
}

}  // namespace
}  // namespace trainyard::logs
