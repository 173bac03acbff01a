#include "stores/store/job_store.h"
#include "base/sqlite/database.h"

#include <sys/mount.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "stores/store/testing/job_store_conformance.h"

namespace trainyard::store {
namespace {

class TempFolder {
 public:
  TempFolder() : path_(testing::TempDir() + "job_store_test.XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << strerror(errno);
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  [[nodiscard]] std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

class SqliteFixture {
 public:
  SqliteFixture() : store_(JobStore::Open(folder_ / "trainyard.db").value()) {}
  JobStore& store() { return *store_; }

 private:
  TempFolder folder_;
  std::unique_ptr<JobStore> store_;
};

class MemoryFixture {
 public:
  JobStore& store() { return *store_; }

 private:
  std::unique_ptr<JobStore> store_ = JobStore::Open(":memory:").value();
};

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, JobStoreConformance, SqliteFixture);
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, JobStoreConformance, MemoryFixture);

std::int64_t CreateJob(JobStore& store, const std::string& job_id) {
  const JobRecord record = NewJob("p", job_id);
  Result<std::int64_t> uid = store.Create(record, CreatedEvent(record));
  EXPECT_TRUE(uid) << uid.error().message;
  return uid.value_or(0);
}

TEST(JobStore, NumbersThatOthersKnowAreSkipped) {
  TempFolder folder;
  auto store = JobStore::Open(folder / "trainyard.db").value();
  EXPECT_EQ(store->LastUid().value(), 0);
  ASSERT_TRUE(store->SkipUids(7));
  EXPECT_EQ(CreateJob(*store, "a"), 8);
  ASSERT_TRUE(store->SkipUids(3));  // fewer than there are
  EXPECT_EQ(CreateJob(*store, "b"), 9);
  EXPECT_EQ(store->LastUid().value(), 9);
}

TEST(JobStore, KeepsAllWhenOpenedAgain) {
  TempFolder folder;
  std::int64_t uid = 0;
  std::string token;
  {
    auto store = JobStore::Open(folder / "trainyard.db").value();
    uid = CreateJob(*store, "a");
    CreateJob(*store, "b");
    token = store->List("p", 1, "").value().next_page_token;
    ASSERT_TRUE(store->Begin());
    CreateJob(*store, "never_committed");
  }
  auto store = JobStore::Open(folder / "trainyard.db").value();
  EXPECT_EQ(store->Get("p", "a").value().uid(), uid);
  EXPECT_EQ(store->Get("p", "never_committed").error().code, Code::kNotFound);
  EXPECT_EQ(store->List("p", 5, token).value().jobs.size(), 1U) << "page tokens outlive a restart";
}

TEST(JobStore, RowsThatWereNotRecoveredAreMadeAnew) {
  TempFolder folder;
  {
    auto store = JobStore::Open(folder / "trainyard.db").value();
    CreateJob(*store, "a");
    CreateJob(*store, "b");
  }
  {
    auto database = sqlite::Database::OpenAsItIs(folder / "trainyard.db").value();
    ASSERT_TRUE(database.Execute("DELETE FROM page_token_key; DELETE FROM last_change"));
  }
  auto store = JobStore::Open(folder / "trainyard.db").value();
  EXPECT_EQ(store->LastChangeNumber().value(), 2) << "no number is used twice";
  CreateJob(*store, "c");
  const std::string token = store->List("p", 1, "").value().next_page_token;
  EXPECT_EQ(store->List("p", 5, token).value().jobs.size(), 2U);
}

TEST(JobStore, AReaderSeesCommittedGroupsOnly) {
  TempFolder folder;
  auto writer = JobStore::Open(folder / "trainyard.db").value();
  auto reader = JobStore::OpenReader(folder / "trainyard.db").value();
  ASSERT_TRUE(writer->Begin());
  CreateJob(*writer, "a");
  EXPECT_EQ(reader->Get("p", "a").error().code, Code::kNotFound);
  ASSERT_TRUE(writer->Commit());
  EXPECT_TRUE(reader->Get("p", "a"));
  const JobRecord record = NewJob("p", "b");
  EXPECT_EQ(reader->Create(record, CreatedEvent(record)).error().code, Code::kPermissionDenied);
}

TEST(JobStore, AJobIsFoundByItsUidInItsProjectOnly) {
  auto store = JobStore::Open(":memory:").value();
  CreateJob(*store, "a");
  const std::int64_t uid = store->Get("p", "a").value().uid();
  EXPECT_EQ(store->GetByUid("p", uid).value().job().job_id(), "a");
  EXPECT_EQ(store->GetByUid("q", uid).error().code, Code::kNotFound);
  EXPECT_EQ(store->GetByUid("p", uid + 1).error().code, Code::kNotFound);
}

TEST(JobStore, NeverScans) {
  TempFolder folder;
  auto store = JobStore::Open(folder / "trainyard.db").value();
  const std::vector<std::string> plans = store->QueryPlans().value();
  EXPECT_THAT(
      plans, testing::ElementsAre(
                 "SEARCH jobs USING INDEX sqlite_autoindex_jobs_1 (project=? AND job_id=?)",
                 "SEARCH jobs USING INTEGER PRIMARY KEY (rowid=?)",
                 "SEARCH jobs USING INDEX jobs_newest (project=? AND uid<?)",
                 "SEARCH jobs USING INDEX jobs_trials (tuning_uid=? AND uid>?)",
                 "SCAN jobs USING INDEX jobs_unfinished",  // the index contains only those
                 "SEARCH events USING INDEX sqlite_autoindex_events_1 (uid=? AND seq>?)",
                 "SEARCH jobs USING INTEGER PRIMARY KEY (rowid=?)", "SCALAR SUBQUERY 1",
                 "SCAN last_change",  // one row
                 "SEARCH jobs USING INDEX jobs_finished (end_time>? AND end_time<?)",
                 "SCAN removed_jobs USING INDEX removed_pending",  // likewise
                 "SEARCH jobs USING COVERING INDEX jobs_trials (tuning_uid=?)",
                 "SEARCH events USING COVERING INDEX sqlite_autoindex_events_1 (uid=? AND seq=?)",
                 "LIST SUBQUERY 1", "SEARCH events USING COVERING INDEX sqlite_autoindex_events_1 (uid=?)",
                 "SEARCH jobs USING INTEGER PRIMARY KEY (rowid=?)",
                 "SEARCH events USING COVERING INDEX sqlite_autoindex_events_1 (uid=?)",  // nothing refers
                 "SEARCH jobs USING COVERING INDEX jobs_trials (tuning_uid=?)",  // to what is deleted
                 "MERGE (UNION ALL)", "LEFT", "SEARCH jobs USING INDEX jobs_changed (project=? AND change>?)",
                 "RIGHT", "SEARCH removed_jobs USING INDEX removed_changed (project=? AND change>?)",
                 "SEARCH jobs USING INDEX jobs_ended (change>?)"));
}

TEST(JobStore, ListsWhatEndedInTheOrderOfItsChanges) {
  auto store = JobStore::Open(":memory:").value();
  EXPECT_EQ(store->LastChangeNumber(), 0);
  for (const char* job_id : {"a", "b", "c"}) CreateJob(*store, job_id);
  const auto change = [&](const char* job_id) {
    JobRecord record = store->Get("p", job_id).value();
    record.set_revision(record.revision() + 1);
    record.mutable_job()->mutable_end_time()->set_seconds(1);  // whatever the clock said
    Event event;
    event.set_seq(record.revision());
    EXPECT_TRUE(store->Append(record, event));
  };
  const auto names_after = [&](std::int64_t number) {
    std::vector<std::string> names;
    for (const EndedJob& each : store->EndedSince(number, 10).value())
      names.push_back(each.job.job().job_id());
    return names;
  };
  EXPECT_THAT(names_after(0), testing::IsEmpty());
  change("b");
  change("a");
  EXPECT_THAT(names_after(0), testing::ElementsAre("b", "a"));
  const std::int64_t last = store->LastChangeNumber().value();
  EXPECT_EQ(store->EndedSince(0, 10).value().back().change, last);
  EXPECT_THAT(names_after(last), testing::IsEmpty());
  change("b");
  EXPECT_THAT(names_after(last), testing::ElementsAre("b"));
}

TEST(JobStore, ResumeTokensOutliveARestartButNotAnOlderBackup) {
  TempFolder folder;
  const std::string path = folder / "trainyard.db";
  const std::string copy = folder / "copy.db";
  auto writer = JobStore::Open(path).value();
  const std::string at_first = writer->ResumeToken("p").value();
  CreateJob(*writer, "a");
  const std::string token = writer->ResumeToken("p").value();
  writer.reset();
  std::filesystem::copy_file(path, copy);

  writer = JobStore::Open(path).value();
  CreateJob(*writer, "b");
  const std::string later = writer->ResumeToken("p").value();
  const JobChange b{.job_id = "b", .trial_id = ""};
  EXPECT_EQ(writer->Changed("p", token, 10).value().changes, (std::vector{b}));
  ASSERT_TRUE(sqlite::Database::OpenAsItIs(path).value().Execute("VACUUM"));
  EXPECT_EQ(writer->Changed("p", token, 10).value().changes, (std::vector{b}));

  auto restored = JobStore::Open(copy).value();
  EXPECT_TRUE(restored->Changed("p", token, 10).value().changes.empty());
  const Error gone = restored->Changed("p", later, 10).error();
  EXPECT_EQ(gone.code, Code::kFailedPrecondition);
  EXPECT_EQ(gone.info->reason, kListAgain);
  CreateJob(*restored, "c");  // it has the number that b has in the other one
  auto reader = JobStore::OpenReader(copy, 1'700'000'000).value();
  for (const std::string& old : {at_first, token, later})
    EXPECT_EQ(reader->Changed("p", old, 10).error().info->reason, kListAgain);
  EXPECT_TRUE(reader->Changed("p", reader->ResumeToken("p").value(), 10));
}

/// A disk of 2 MB that fills up; unmounted at the end. Empty path when mounting is not allowed.
class SmallDisk {
 public:
  SmallDisk() {
    const std::string path = folder_ / "disk";
    std::filesystem::create_directory(path);
    if (mount("tmpfs", path.c_str(), "tmpfs", 0, "size=2m") == 0) path_ = path;
  }
  ~SmallDisk() {
    if (!path_.empty()) umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  TempFolder folder_;
  std::string path_;
};

TEST(JobStore, AFullDiskLosesAGroupButNothingBefore) {
  SmallDisk disk;
  if (disk.path().empty()) GTEST_SKIP() << "cannot mount a tmpfs";
  const std::string path = disk.path() + "/trainyard.db";
  auto store = JobStore::Open(path).value();
  const Error full{Code::kResourceExhausted, "trainyard.db: No space left on device", {}};
  int committed = 0;
  Status status;
  for (int group = 0; group < 100; ++group) {
    ASSERT_TRUE(store->Begin());
    for (int i = 0; i < 10; ++i) {
      JobRecord record = NewJob("p", "job_" + std::to_string(group) + "_" + std::to_string(i));
      record.add_notes(std::string(20'000, 'x'));
      Result<std::int64_t> uid = store->Create(record, CreatedEvent(record));
      if (!uid) EXPECT_EQ(uid.error(), full);
    }
    status = store->Commit();
    if (!status) break;
    ++committed;
  }
  ASSERT_FALSE(status) << "40 MB fitted into 2 MB";
  EXPECT_EQ(status.error(), full);
  EXPECT_GT(committed, 0);
  EXPECT_EQ(store->List("p", kPageSizeMax, "").value().jobs.size(), static_cast<std::size_t>(committed) * 10);
  store = JobStore::Open(path).value();
  EXPECT_EQ(store->Unfinished().value().size(), static_cast<std::size_t>(committed) * 10);
}

}  // namespace
}  // namespace trainyard::store
