#include "stores/logs/log_tails.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>

#include "base/async/task_group.h"
#include "stores/logs/log_store.h"
#include "stores/logs/testing/log_file_fixture.h"

namespace trainyard::logs {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;
using testing::IsEmpty;

logging::v2::TailLogEntriesRequest TailOf(const std::string& filter) {
  logging::v2::TailLogEntriesRequest request;
  request.add_resource_names("projects/p");
  request.set_filter(filter);
  return request;
}

class LogTailsTest : public LogFileTest {
 protected:
  void SetUp() override {
    LogFileTest::SetUp();
    store_ = LogStore::Open(loop_, clock_, folder_ + "/logs.db").value();
    tails_ = LogTails::Open(loop_.get_executor(), *store_, folder_ + "/logs.db").value();
  }

  template <class T>
  T Await(asio::awaitable<T> work) {
    std::optional<T> result;
    asio::co_spawn(loop_, std::move(work), [&result](std::exception_ptr exception, T value) {
      EXPECT_FALSE(exception);
      result.emplace(std::move(value));
    });
    loop_.restart();
    while (!result) loop_.run_one();
    return *std::move(result);
  }

  void Store(const std::string& task, const SampleLines& lines, std::int64_t uid = 1) {
    EXPECT_TRUE(Await(store_->Append(SampleSource(uid, task), SampleChunk(lines))));
  }

  std::shared_ptr<Tail> Start(const std::string& filter, const std::string& cursor = "") {
    return Await(tails_->Start(TailOf(filter), cursor)).value();
  }

  TailBatch Next(Tail& tail, std::chrono::steady_clock::duration wait_max = std::chrono::hours(1)) {
    return Await(tail.Next(wait_max)).value();
  }

  static std::vector<std::string> TextsOf(const TailBatch& batch) {
    std::vector<std::string> texts;
    if (!batch.response) return texts;
    for (const auto& entry : boost::json::parse(*batch.response).at("entries").as_array())
      texts.emplace_back(entry.at("jsonPayload").at("message").as_string());
    return texts;
  }

  asio::io_context loop_;
  std::unique_ptr<LogStore> store_;
  std::unique_ptr<LogTails> tails_;
};

asio::awaitable<void> Collect(std::shared_ptr<Tail> tail, std::size_t count, std::size_t& entries,
                              std::size_t& done) {
  while (entries < count) {
    const Result<TailBatch> batch = co_await tail->Next(std::chrono::hours(1));
    if (!batch) break;
    entries += boost::json::parse(*batch->response).at("entries").as_array().size();
  }
  ++done;
}

TEST_F(LogTailsTest, WhatIsStoredComesAtOnce) {
  const std::shared_ptr<Tail> job = Start(JobFilter(1));
  const std::shared_ptr<Tail> all = Start("");
  EXPECT_THAT(TextsOf(Next(*job, {})), IsEmpty());
  Store("master-replica-0", {.texts = {"a", "b"}});
  EXPECT_THAT(TextsOf(Next(*job)), ElementsAre("a", "b"));
  EXPECT_THAT(TextsOf(Next(*all)), ElementsAre("a", "b"));
  Store("master-replica-0", {.texts = {"x"}}, 2);
  EXPECT_THAT(TextsOf(Next(*job, {})), IsEmpty());
  EXPECT_THAT(TextsOf(Next(*all)), ElementsAre("x"));
}

TEST_F(LogTailsTest, AWaitingTailIsWoken) {
  constexpr std::size_t kTails = 100;
  std::vector<std::size_t> entries(kTails);
  std::size_t done = 0;
  TaskGroup group(loop_.get_executor());
  for (std::size_t& count : entries) group.Spawn(Collect(Start(JobFilter(1)), 3, count, done));
  Store("master-replica-0", {.texts = {"other"}}, 2);
  EXPECT_EQ(done, 0U);
  Store("master-replica-0", {.texts = {"a"}});
  Store("master-replica-0", {.first_line = 1, .texts = {"b", "c"}});
  while (done < kTails) loop_.run_one();
  EXPECT_EQ(entries, std::vector<std::size_t>(kTails, 3));
}

// A tail of a job that does not exist yet is not woken by every line of other jobs.
TEST_F(LogTailsTest, AJobThatComesLater) {
  std::size_t entries = 0;
  std::size_t done = 0;
  TaskGroup group(loop_.get_executor());
  for (int line = 0; line < 3; ++line) Store("master-replica-0", {.first_line = line, .texts = {"x"}}, 2);
  group.Spawn(Collect(Start(JobFilter(1)), 4, entries, done));
  for (int line = 3; line < 6; ++line) Store("master-replica-0", {.first_line = line, .texts = {"x"}}, 2);
  for (int line = 0; line < 4; ++line) Store("master-replica-0", {.first_line = line, .texts = {"a"}});
  while (done < 1) loop_.run_one();
  EXPECT_EQ(entries, 4U);
}

// Appends and reads interleave in every way that the pool's thread lets them.
TEST_F(LogTailsTest, NoLineIsLostOrDoubledUnderLoad) {
  constexpr std::size_t kLines = 600;
  std::vector<std::size_t> entries(40);
  std::size_t done = 0;
  TaskGroup group(loop_.get_executor());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string filter = i % 3 == 0   ? JobFilter(1)
                               : i % 3 == 1 ? "resource.labels.job_id:job1"
                                            : JobFilter(1) + " x";
    group.Spawn(Collect(Start(filter), kLines, entries[i], done));
  }
  for (std::size_t line = 0; line < kLines; ++line) {
    asio::co_spawn(
        loop_,
        store_->Append(SampleSource(1, "master-replica-0"),
                       SampleChunk({.first_line = static_cast<std::int64_t>(line), .texts = {"x"}})),
        [](std::exception_ptr, Result<StoredLines> next) { EXPECT_TRUE(next); });
    if (line % 7 == 0) loop_.run_one();
    if (line % 50 == 0)
      Store("worker-replica-0", {.first_line = static_cast<std::int64_t>(line / 50), .texts = {"y"}}, 2);
  }
  while (done < entries.size()) loop_.run_one();
  EXPECT_EQ(entries, std::vector<std::size_t>(40, kLines));
}

TEST_F(LogTailsTest, ACursorGoesOnAfterARestart) {
  Store("master-replica-0", {.texts = NumberedTexts("t", 1200)});
  const std::string filter = JobFilter(1) + R"( AND timestamp>="1970-01-01T00:00:00Z")";
  std::shared_ptr<Tail> tail = Start(filter);
  const TailBatch first = Next(*tail);
  EXPECT_TRUE(first.behind);
  std::vector<std::string> texts = TextsOf(first);
  tail.reset();
  tails_.reset();
  tails_ = LogTails::Open(loop_.get_executor(), *store_, folder_ + "/logs.db").value();
  tail = Start(filter, first.cursor);
  while (texts.size() < 1200) {
    const TailBatch batch = Next(*tail);
    EXPECT_EQ(batch.behind, texts.size() == 500);
    for (std::string& text : TextsOf(batch)) texts.push_back(std::move(text));
  }
  EXPECT_EQ(texts, NumberedTexts("t", 1200));
  EXPECT_THAT(TextsOf(Next(*tail, {})), IsEmpty());
}

TEST_F(LogTailsTest, RefusesWhatItCannotRead) {
  EXPECT_EQ(Await(tails_->Start(TailOf("("), "")).error().field, "filter");
  EXPECT_EQ(Await(tails_->Start(TailOf(""), "xyz")).error().field, "cursor");
}

TEST_F(LogTailsTest, ATailMayBeCancelledWhileItWaits) {
  std::size_t entries = 0;
  std::size_t done = 0;
  TaskGroup group(loop_.get_executor());
  group.Spawn(Collect(Start(JobFilter(1)), 1, entries, done));
  Store("master-replica-0", {.texts = {"x"}}, 2);
  group.Cancel();
  loop_.restart();
  while (group.size() > 0) loop_.run_one();
  EXPECT_EQ(done, 0U);
  Store("master-replica-0", {.texts = {"a"}});
}

}  // namespace
}  // namespace trainyard::logs
