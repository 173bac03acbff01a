#include "stores/logs/log_store.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <csignal>
#include <map>

#include "stores/logs/testing/log_file_fixture.h"

namespace trainyard::logs {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;

class LogStoreTest : public LogFileTest {
 protected:
  LogStoreTest() = default;
  void SetUp() override {
    LogFileTest::SetUp();
    store_ = LogStore::Open(loop_, clock_, folder_ + "/logs.db").value();
  }
  asio::io_context loop_;
  std::unique_ptr<LogStore> store_;
};

asio::awaitable<void> WalkThrough(LogStore& store, bool& done) {
  const LogSource source = SampleSource(1, "master-replica-0");
  std::vector<std::int64_t> observed;
  store.OnAppended(&observed, [&observed](std::int64_t job_uid) { observed.push_back(job_uid); });
  replica::v1::LogChunk chunk = SampleChunk({.texts = {"a", "b"}, .first_stamp = 1001});

  const auto bytes = static_cast<std::int64_t>(chunk.lines().size());
  Result<StoredLines> next = co_await store.Append(source, chunk);
  EXPECT_EQ(next.value(), (StoredLines{.next_line = 2, .job_bytes = bytes}));
  EXPECT_THAT(observed, ElementsAre(1));
  Result<StoredLines> again = co_await store.Append(source, chunk);
  EXPECT_EQ(again, next);
  EXPECT_THAT(observed, ElementsAre(1)) << "nothing new";
  chunk.set_first_line(9);
  Result<StoredLines> gap = co_await store.Append(source, chunk);
  EXPECT_EQ(gap.error().field, "log");

  Result<std::int64_t> known = co_await store.NextLine(1, source.source);
  EXPECT_EQ(known.value(), 2);
  Result<std::int64_t> length = co_await store.Length(1);
  EXPECT_EQ(length.value(), 2);
  length = co_await store.Length(9);
  EXPECT_EQ(length.value(), 0);
  logging::v2::ListLogEntriesRequest request;
  request.add_resource_names("projects/p");
  Result<LogPage> page = co_await store.List(request);
  EXPECT_EQ(page.value().entries.size(), 2U);
  request.set_filter("(");
  Result<LogPage> refused = co_await store.List(request);
  EXPECT_EQ(refused.error().field, "filter");
  store.OnAppended(&observed, nullptr);
  done = true;
}

TEST_F(LogStoreTest, AppendsAndLists) {
  bool done = false;
  asio::co_spawn(loop_, WalkThrough(*store_, done), asio::detached);
  loop_.run();
  EXPECT_TRUE(done);
}

asio::awaitable<void> AppendOne(LogStore& store, LogSource source, replica::v1::LogChunk chunk,
                                std::int64_t& next) {
  Result<StoredLines> appended = co_await store.Append(std::move(source), std::move(chunk));
  EXPECT_TRUE(appended) << appended.error().message;
  next = appended ? appended->next_line : -1;
}

TEST_F(LogStoreTest, KeepsTheOrderOfChunksSentWithoutWaiting) {
  const LogSource source = SampleSource(1, "master-replica-0");
  std::vector<std::int64_t> next(600);
  for (int i = 0; i < 600; ++i) {
    replica::v1::LogChunk chunk = SampleChunk({.first_line = i,
                                               .texts = {"t" + std::to_string(i)},
                                               .first_stamp = static_cast<std::uint64_t>(2 * i + 1)});
    asio::co_spawn(loop_, AppendOne(*store_, source, std::move(chunk), next[static_cast<std::size_t>(i)]),
                   asio::detached);
  }
  loop_.run();
  EXPECT_TRUE(std::ranges::is_sorted(next));
  EXPECT_EQ(Texts(ReadAll(Request(JobFilter(1)))), NumberedTexts("t", 600));
}

/// Appends forever and tells each acknowledged line count through the pipe.
asio::awaitable<void> AppendForEver(LogStore& store, LogSource source, int lane, int pipe) {
  for (std::int64_t line = 0;;) {
    std::vector<std::string> texts;
    for (int i = 0; i < 20; ++i) texts.push_back("line " + std::to_string(line + i));
    replica::v1::LogChunk chunk = SampleChunk({.first_line = line,
                                               .texts = std::move(texts),
                                               .first_stamp = static_cast<std::uint64_t>(2 * line + 1)});
    Result<StoredLines> next = co_await store.Append(source, std::move(chunk));
    if (!next) _exit(3);
    line = next->next_line;
    const std::int64_t message[2] = {lane, line};
    if (write(pipe, message, sizeof message) != sizeof message) _exit(4);
  }
}

[[noreturn]] void RunAppender(const std::string& path, int pipe) {
  asio::io_context loop;
  const FixedClock clock;
  auto store = LogStore::Open(loop, clock, path);
  if (!store) _exit(2);
  for (int lane = 0; lane < 8; ++lane) {
    const LogSource source = SampleSource(lane + 1, "master-replica-0");
    asio::co_spawn(loop, AppendForEver(**store, source, lane, pipe), asio::detached);
  }
  loop.run();
  _exit(5);
}

class LogStoreKill9 : public LogFileTest {};

TEST_F(LogStoreKill9, LosesNothingThatWasAcknowledged) {
  constexpr int kAcknowledged = 1000;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string path = folder_ + "/killed.db";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) RunAppender(path, ends[1]);
  close(ends[1]);
  std::map<std::int64_t, std::int64_t> acknowledged;
  int count = 0;
  std::int64_t message[2];
  while (read(ends[0], message, sizeof message) == sizeof message) {
    acknowledged[message[0]] = message[1];
    if (++count == kAcknowledged) kill(child, SIGKILL);
  }
  close(ends[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(count >= kAcknowledged && WIFSIGNALED(status)) << "the child ended by itself: " << status;

  writer_ = LogWriter::Open(path, clock_).value();
  reader_ = LogReader::Open(path).value();
  for (const auto& [lane, lines] : acknowledged) {
    const LogSource source = SampleSource(lane + 1, "master-replica-0");
    const std::int64_t stored = reader_->NextLine(lane + 1, source.source).value();
    EXPECT_GE(stored, lines);
    EXPECT_EQ(Texts(ReadAll(Request(JobFilter(lane + 1)))), NumberedTexts("line ", static_cast<int>(stored)));
  }
}

}  // namespace
}  // namespace trainyard::logs
