#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>

#include "base/sqlite/testing/simulated_disk.h"
#include "base/wire/time.h"
#include "stores/store/job_store.h"

/// The job store on a disk that loses, tears and reorders what was not synced: after a power cut at any
/// write, everything that was acknowledged is there, what was not is there as a whole or not at all, and the
/// numbers of jobs are never given twice.
namespace trainyard::store {
namespace {

using control::v1::Event;
using control::v1::JobRecord;

const std::string kPath = std::string(sqlite::SimulatedDisk::kFolder) + "jobs.db";

class History {
 public:
  explicit History(unsigned seed) : random_(seed), disk_(seed) {}

  void Run() {
    ASSERT_TRUE(JobStore::Open(kPath));  // upgrades of the schema copy files of the real disk
    for (int life = 0; life < 4 && !testing::Test::HasFailure(); ++life) {
      disk_.FailAfter(static_cast<std::int64_t>(random_() % 120));
      Live();
      disk_.PowerCut();
      Check();
    }
  }

 private:
  using Known = std::map<std::string, std::int64_t>;  ///< revisions by job

  static JobRecord Record(const std::string& id, std::int64_t revision) {
    JobRecord record;
    record.set_project("p");
    record.mutable_job()->set_job_id(id);
    record.mutable_job()->mutable_training_input()->set_region(std::string(random_size(id), 'r'));
    record.set_revision(revision);
    return record;
  }
  static std::size_t random_size(const std::string& id) { return id.size() * 97 % 1'500; }

  static Event Labelled() {
    Event event;
    *event.mutable_time() = wire::ToProto(SysTime(std::chrono::seconds(1'700'000'000)));
    event.mutable_patched();
    return event;
  }

  /// Groups of changes until the disk fails.
  void Live() {
    auto store = JobStore::Open(kPath);
    while (store && !testing::Test::HasFailure()) {
      Known group = acknowledged_;
      if (!(*store)->Begin()) return;
      const bool written = Change(**store, group);
      pending_ = group;
      if (!written || !(*store)->Commit()) return;
      acknowledged_ = group;
    }
  }

  bool Change(JobStore& store, Known& group) {
    for (auto left = random_() % 4 + 1; left > 0; --left) {
      if (group.empty() || random_() % 2 == 0) {
        const std::string id = "job_" + std::to_string(next_++);
        Event created = Labelled();
        *created.mutable_created()->mutable_record() = Record(id, 1);
        const auto uid = store.Create(Record(id, 1), created);
        if (!uid) return false;
        uids_[id] = *uid;
        group[id] = 1;
        continue;
      }
      auto job = std::next(group.begin(), static_cast<std::ptrdiff_t>(random_() % group.size()));
      JobRecord after = Record(job->first, job->second + 1);
      after.set_uid(uids_.at(job->first));
      Event event = Labelled();
      event.set_seq(job->second + 1);
      if (!store.Append(after, event)) return false;
      ++job->second;
    }
    return true;
  }

  void Check() {
    auto store = JobStore::Open(kPath);
    ASSERT_TRUE(store) << store.error().message;
    Known found;
    std::map<std::int64_t, std::string> by_uid;
    auto page = (*store)->List("p", kPageSizeMax, "");
    ASSERT_TRUE(page) << page.error().message;
    for (const JobRecord& job : page->jobs) {
      found[job.job().job_id()] = job.revision();
      EXPECT_TRUE(by_uid.emplace(job.uid(), job.job().job_id()).second);
      const auto events = (*store)->Events(job.uid(), 0);
      ASSERT_TRUE(events) << events.error().message;
      EXPECT_EQ(static_cast<std::int64_t>(events->size()), job.revision()) << "a record without its events";
      uids_[job.job().job_id()] = job.uid();
    }
    EXPECT_TRUE(found == acknowledged_ || found == pending_) << "a group is there in part, or is lost";
    acknowledged_ = pending_ = found;
  }

  std::mt19937 random_;
  sqlite::SimulatedDisk disk_;
  Known acknowledged_;
  Known pending_;  ///< after the group that was being committed
  std::map<std::string, std::int64_t> uids_;
  int next_ = 0;
};

int Histories() { return std::getenv("TRAINYARD_LONG") != nullptr ? 20'000 : 100; }

TEST(PowerCut, LosesNothingThatWasAcknowledged) {
  for (int seed = 0; seed < Histories(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    History(static_cast<unsigned>(seed)).Run();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace trainyard::store
