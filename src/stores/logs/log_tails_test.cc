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
using testing::Each;
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

/// Follows the tail until a line has this text.
asio::awaitable<void> Follow(std::shared_ptr<Tail> tail, std::string last, std::vector<std::string>& texts,
                             std::size_t& done) {
  while (texts.empty() || texts.back() != last) {
    const Result<TailBatch> batch = co_await tail->Next(std::chrono::hours(1));
    if (!batch) break;
    for (const auto& entry : boost::json::parse(*batch->response).at("entries").as_array())
      texts.emplace_back(entry.at("jsonPayload").at("message").as_string());
  }
  ++done;
}

class LogTailsCrowd : public LogTailsTest {
 protected:
  void StoreLine(const std::string& text) {
    Store("master-replica-0", {.first_line = lines_++, .texts = {text}});
  }

  /// Opens so many tails; each has seen that there is nothing yet.
  void OpenAll(std::size_t count, const std::string& filter) {
    for (std::size_t i = 0; i < count; ++i) {
      tails_of_job_.push_back(Start(filter));
      EXPECT_THAT(TextsOf(Next(*tails_of_job_.back(), {})), IsEmpty());
    }
    texts_.resize(tails_of_job_.size());
  }

  /// Follows all tails but the last `without` until they have the line.
  void FollowAll(const std::string& last, std::size_t without = 0) {
    TaskGroup group(loop_.get_executor());
    std::size_t done = 0;
    for (std::size_t i = 0; i + without < tails_of_job_.size(); ++i)
      group.Spawn(Follow(tails_of_job_[i], last, texts_[i], done));
    StoreLine(last);
    while (done + without < tails_of_job_.size()) loop_.run_one();
  }

  std::int64_t lines_ = 0;
  std::vector<std::shared_ptr<Tail>> tails_of_job_;
  std::vector<std::vector<std::string>> texts_;
};

TEST_F(LogTailsCrowd, IsServedByOneReading) {
  std::vector<std::vector<std::string>> expected;
  for (int place = 0; place < 10; ++place) {
    StoreLine(std::to_string(place));
    for (auto& texts : expected) texts.push_back(std::to_string(place));
    OpenAll(100, JobFilter(1));
    expected.resize(texts_.size());
  }
  FollowAll("all are at the same place");
  for (auto& texts : expected) texts.emplace_back("all are at the same place");
  EXPECT_EQ(texts_, expected);
  const std::uint64_t before = tails_->readings();
  FollowAll("one reading");
  EXPECT_EQ(tails_->readings() - before, 1U);
  for (auto& texts : expected) texts.emplace_back("one reading");
  EXPECT_EQ(texts_, expected);
}

TEST_F(LogTailsCrowd, DoesNotWaitForASlowReader) {
  std::vector<std::string> expected;
  OpenAll(100, JobFilter(1) + R"( AND timestamp>="1970-01-01T00:00:00Z")");
  for (int i = 0; i < 5; ++i) {
    Store("worker-replica-0", {.first_line = 300 * i, .texts = NumberedTexts("t" + std::to_string(i), 300)});
    for (std::string& text : NumberedTexts("t" + std::to_string(i), 300)) expected.push_back(std::move(text));
    expected.push_back("round " + std::to_string(i));
    FollowAll(expected.back(), 1);
  }
  expected.emplace_back("all");
  FollowAll("all");
  EXPECT_EQ(texts_, std::vector<std::vector<std::string>>(100, expected));
}

TEST_F(LogTailsCrowd, DoesNotWaitForReadersThatLeave) {
  OpenAll(200, JobFilter(1));
  std::vector<std::string> ignored;
  std::size_t done = 0;
  TaskGroup leaving(loop_.get_executor());
  for (std::size_t i = 0; i < 100; ++i) leaving.Spawn(Follow(tails_of_job_[i], "never", ignored, done));
  StoreLine("a round begins");
  leaving.Cancel();
  loop_.restart();
  while (leaving.size() > 0) loop_.run_one();
  tails_of_job_.erase(tails_of_job_.begin(), tails_of_job_.begin() + 100);
  FollowAll("for the others");
  FollowAll("and once more");
  texts_.resize(100);
  EXPECT_THAT(texts_, Each(ElementsAre("a round begins", "for the others", "and once more")));
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
  std::vector<std::size_t> entries(120);  // two thirds of them are a crowd
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
  EXPECT_EQ(entries, std::vector<std::size_t>(120, kLines));
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
