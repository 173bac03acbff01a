#include "stores/store/journal.h"

#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "stores/store/job_rules.h"
#include "stores/store/testing/job_store_conformance.h"

namespace trainyard::store {
namespace {

namespace asio = boost::asio;

constexpr int kInFlight = 64;

/// A store that counts groups and fails to commit them on demand.
class Harness final : public JobStore {
 public:
  Harness() : JobStore(std::move(*Open(":memory:").value())) {}

  int groups = 0;
  int failures = 0;  ///< so many next commits fail

  Status Begin() override {
    ++groups;
    return JobStore::Begin();
  }
  Status Commit() override {
    if (failures == 0) return JobStore::Commit();
    --failures;
    Rollback();
    return std::unexpected(ResourceExhausted("No space left on device"));
  }
};

std::vector<Event> One(Event event) { return {std::move(event)}; }

using Outcomes = std::map<std::string, Result<std::int64_t>>;

asio::awaitable<void> CreateOne(Journal& journal, std::string job_id, Outcomes& outcomes) {
  JobRecord record = NewJob("p", job_id);
  Event created = CreatedEvent(record);
  outcomes.insert_or_assign(job_id, co_await journal.Create(std::move(record), One(std::move(created))));
}

Outcomes CreateAtOnce(asio::io_context& loop, Journal& journal, const std::string& prefix, int count) {
  Outcomes outcomes;
  for (int i = 0; i < count; ++i) {
    asio::co_spawn(loop, CreateOne(journal, prefix + std::to_string(i), outcomes), asio::detached);
  }
  loop.restart();
  loop.run();
  return outcomes;
}

TEST(Journal, CommitsWhatComesTogetherAsOneGroup) {
  asio::io_context loop;
  Harness store;
  Journal journal(loop, store, store);
  const Outcomes outcomes = CreateAtOnce(loop, journal, "job", kInFlight);
  EXPECT_EQ(store.groups, 1);
  std::set<std::int64_t> uids;
  for (const auto& [id, uid] : outcomes) {
    ASSERT_TRUE(uid) << uid.error().message;
    EXPECT_EQ(store.Get("p", id).value().uid(), *uid);
    uids.insert(*uid);
  }
  EXPECT_EQ(uids.size(), kInFlight);
}

TEST(Journal, BoundsAGroup) {
  asio::io_context loop;
  Harness store;
  Journal journal(loop, store, store);
  EXPECT_EQ(CreateAtOnce(loop, journal, "job", 1100).size(), 1100U);
  EXPECT_EQ(store.groups, 3);
}

TEST(Journal, TellsEveryCallerOfAGroupThatFailed) {
  asio::io_context loop;
  Harness store;
  store.failures = 1;
  Journal journal(loop, store, store);
  for (const auto& [id, uid] : CreateAtOnce(loop, journal, "job", kInFlight)) {
    EXPECT_EQ(uid.error(), (ResourceExhausted("No space left on device")));
    EXPECT_FALSE(store.Get("p", id));
  }
  for (const auto& [id, uid] : CreateAtOnce(loop, journal, "job", kInFlight)) EXPECT_TRUE(uid) << id;
}

asio::awaitable<void> WalkThrough(Journal& journal, bool& done) {
  JobRecord record = NewJob("p", "a");
  Event created = CreatedEvent(record);
  Result<std::int64_t> uid = co_await journal.Create(record, One(created));
  record.set_uid(uid.value());
  record.set_revision(1);
  Result<std::int64_t> again = co_await journal.Create(record, One(created));
  EXPECT_EQ(again.error().code, Code::kAlreadyExists);

  JobRecord running = Next(record, ml::v1::Job::RUNNING);
  Event event = RunningEvent(running);
  Status appended = co_await journal.Append(running, One(event));
  EXPECT_TRUE(appended);
  Status stale = co_await journal.Append(running, One(event));
  EXPECT_EQ(stale.error().code, Code::kAborted);

  Result<JobRecord> got = co_await journal.Read([&](JobStore& jobs) { return jobs.Get("p", "a"); });
  EXPECT_THAT(got.value(), EqualsMessage(running));
  Result<JobRecord> nothing = co_await journal.Read([&](JobStore& jobs) { return jobs.Get("p", "b"); });
  EXPECT_EQ(nothing.error().code, Code::kNotFound);
  Result<JobPage> page = co_await journal.Read([&](JobStore& jobs) { return jobs.List("p", 10, ""); });
  EXPECT_EQ(page.value().jobs.size(), 1U);
  Result<JobPage> bad = co_await journal.Read([&](JobStore& jobs) { return jobs.List("p", 10, "x"); });
  EXPECT_EQ(bad.error().field, "page_token");
  Result<std::vector<JobRecord>> unfinished =
      co_await journal.Read([](JobStore& jobs) { return jobs.Unfinished(); });
  EXPECT_EQ(unfinished.value().size(), 1U);
  Result<std::vector<Event>> events =
      co_await journal.Read([&](JobStore& jobs) { return jobs.Events(*uid, 1); });
  EXPECT_EQ(events.value().size(), 1U);
  done = true;
}

TEST(Journal, ReadsWhatItWrote) {
  const std::string folder = testing::TempDir() + "journal_test.reads";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  auto writer = JobStore::Open(folder + "/t.db").value();
  auto reader = JobStore::OpenReader(folder + "/t.db").value();
  const auto memory = JobStore::Open(":memory:").value();
  const std::pair<JobStore*, JobStore*> both[] = {{writer.get(), reader.get()}, {memory.get(), memory.get()}};
  for (const auto& [write, read] : both) {
    asio::io_context loop;
    Journal journal(loop, *write, *read);
    bool done = false;
    asio::co_spawn(loop, WalkThrough(journal, done), asio::detached);
    loop.run();
    EXPECT_TRUE(done);
  }
  std::filesystem::remove_all(folder);
}

/// All pages, each as its jobs' ids and a "|".
asio::awaitable<void> ReadSelected(Journal& journal, int page_size, JobSelection selection,
                                   std::string& pages) {
  std::string token;
  do {
    Result<JobPage> page = co_await journal.Read(
        [&](JobStore& jobs) { return SelectJobs(jobs, "p", page_size, token, selection); });
    for (const JobRecord& record : page.value().jobs) pages += record.job().job_id();
    EXPECT_LE(page->looked_at, selection.looked_at_max + page_size);
    pages += "|";
    token = page->next_page_token;
  } while (!token.empty());
}

TEST(Journal, SelectsFromALongHistory) {
  asio::io_context loop;
  Harness store;
  Journal journal(loop, store, store);
  for (const std::string id : {"j0", "j1", "j2", "j3", "j4", "j5"}) {
    const JobRecord record = NewJob("p", id);
    ASSERT_TRUE(store.Create(record, CreatedEvent(record)));
  }
  struct Row {
    int page_size;
    int looked_at_max;
    const char* pages;
  };
  for (const Row& row : {Row{10, 100, "j4j2j0|"}, Row{1, 100, "j4|j2|j0|"}, Row{2, 2, "j4|j2|j0|"},
                         Row{2, 100, "j4j2|j0|"}, Row{1, 1, "|j4||j2||j0|"}}) {
    std::string pages;
    const JobSelection even{
        .wanted = [](JobRecord& record) { return (record.job().job_id().back() - '0') % 2 == 0; },
        .looked_at_max = row.looked_at_max};
    asio::co_spawn(loop, ReadSelected(journal, row.page_size, even, pages), asio::detached);
    loop.restart();
    loop.run();
    EXPECT_EQ(pages, row.pages) << row.page_size << " of " << row.looked_at_max;
  }
}

TEST(Journal, FinishesWhatWasSubmittedWhenDestroyed) {
  asio::io_context loop;
  Harness store;
  Outcomes outcomes;
  {
    Journal journal(loop, store, store);
    asio::co_spawn(loop, CreateOne(journal, "a", outcomes), asio::detached);
    loop.poll_one();  // submitted, but its group has not started
    asio::co_spawn(loop, CreateOne(journal, "b", outcomes), asio::detached);
    loop.poll();
  }
  EXPECT_TRUE(store.Get("p", "a"));
  EXPECT_TRUE(store.Get("p", "b"));
  loop.restart();
  loop.run();
  EXPECT_EQ(outcomes.size(), 2U);
}

/// Creates one job after the other and writes each acknowledged id to the pipe.
asio::awaitable<void> CreateForEver(Journal& journal, int lane, int pipe) {
  for (int i = 0;; ++i) {
    const std::string job_id = "job_" + std::to_string(lane) + "_" + std::to_string(i);
    JobRecord record = NewJob("p", job_id);
    Event created = CreatedEvent(record);
    Result<std::int64_t> uid = co_await journal.Create(std::move(record), One(std::move(created)));
    if (!uid) _exit(3);
    const std::string line = job_id + "\n";
    if (write(pipe, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(4);
  }
}

[[noreturn]] void RunCreator(const std::string& path, int pipe) {
  auto writer = JobStore::Open(path);
  if (!writer) _exit(2);
  asio::io_context loop;
  Journal journal(loop, **writer, **writer);
  for (int lane = 0; lane < kInFlight; ++lane) {
    asio::co_spawn(loop, CreateForEver(journal, lane, pipe), asio::detached);
  }
  loop.run();
  _exit(5);
}

TEST(Journal, WhatWasAcknowledgedSurvivesKill9) {
  constexpr int kAcknowledged = 2000;
  const std::string folder = testing::TempDir() + "journal_test.kill9";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) RunCreator(folder + "/t.db", ends[1]);
  close(ends[1]);

  std::string acknowledged;
  bool killed = false;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    acknowledged.append(buffer, static_cast<std::size_t>(n));
    if (killed || std::ranges::count(acknowledged, '\n') < kAcknowledged) continue;
    kill(child, SIGKILL);
    killed = true;
  }
  close(ends[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(killed && WIFSIGNALED(status)) << "the child ended by itself: " << status;

  auto store = JobStore::Open(folder + "/t.db").value();
  int checked = 0;
  for (std::size_t begin = 0, end = 0; (end = acknowledged.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string job_id = acknowledged.substr(begin, end - begin);
    Result<JobRecord> job = store->Get("p", job_id);
    ASSERT_TRUE(job) << job_id << " was acknowledged and is lost";
    ASSERT_EQ(store->Events(job->uid(), 0).value().size(), 1U);
    ++checked;
  }
  EXPECT_GE(checked, kAcknowledged);
  std::filesystem::remove_all(folder);
}

TEST(Journal, AFullDiskRefusesAndKeepsWhatItAcknowledged) {
  const std::string disk = testing::TempDir() + "journal_test.disk";
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=2m") != 0) {
    GTEST_SKIP() << "cannot mount a tmpfs: " << strerror(errno);
  }
  {
    auto store = JobStore::Open(disk + "/t.db").value();
    asio::io_context loop;
    Journal journal(loop, *store, *store);
    std::set<std::string> acknowledged;
    std::set<std::string> refused;
    for (int group = 0; group < 200 && refused.empty(); ++group) {
      for (const auto& [id, uid] :
           CreateAtOnce(loop, journal, "job_" + std::to_string(group) + "_", kInFlight)) {
        (uid ? acknowledged : refused).insert(id);
        if (!uid) {
          EXPECT_EQ(uid.error(), (ResourceExhausted("t.db: No space left on device")));
        }
      }
    }
    ASSERT_EQ(refused.size(), kInFlight) << "the whole group is refused";
    EXPECT_GT(acknowledged.size(), 0U);
    auto reopened = JobStore::OpenReader(disk + "/t.db").value();
    for (const std::string& id : acknowledged) EXPECT_TRUE(reopened->Get("p", id)) << id;
    for (const std::string& id : refused) EXPECT_FALSE(reopened->Get("p", id)) << id;
  }
  EXPECT_EQ(umount2(disk.c_str(), MNT_DETACH), 0);
  std::filesystem::remove(disk);
}

}  // namespace
}  // namespace trainyard::store
