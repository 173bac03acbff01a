#include "control/views/job_watches.h"

#include "control/testing/world.h"

namespace trainyard::control {
namespace {

using testing::UnorderedElementsAre;

constexpr std::chrono::seconds kWaitMax{20};
constexpr std::chrono::milliseconds kNothingComes{1};

class JobWatchesTest : public World {
 protected:
  JobWatchesTest() {
    replicas_->SetScript([](const Manifest& manifest) {
      return FakeScript{
          .lines = {"x"},
          .exit = manifest.job_id().starts_with("stays") ? std::nullopt : std::optional(Exit(0))};
    });
  }
  std::shared_ptr<JobWatch> Start(JobWatches::Query query) {
    query.project = "p";
    auto watch = Await(service_->watches().Start(std::move(query)));
    EXPECT_TRUE(watch) << watch.error().message;
    return *watch;
  }
  Error Refused(JobWatches::Query query) {
    query.project = "p";
    return Await(service_->watches().Start(std::move(query))).error();
  }
  v1::JobChanges Next(JobWatch& watch) {
    Result<std::optional<v1::JobChanges>> changes = Await(watch.Next(kWaitMax));
    EXPECT_TRUE(changes && *changes);
    return changes && *changes ? **std::move(changes) : v1::JobChanges();
  }
  /// Waits until the watch reports the job in this state.
  v1::JobRow NextInState(JobWatch& watch, const std::string& job_id, Job::State state) {
    for (int i = 0; i < 100; ++i) {
      const v1::JobChanges changes = Next(watch);
      token_ = changes.resume_token();
      for (const v1::JobChanges::Change& change : changes.changes())
        if (change.job_id() == job_id && change.has_job() && change.job().state() == state)
          return change.job();
    }
    ADD_FAILURE() << job_id << " is never " << Job::State_Name(state);
    return {};
  }
  static std::vector<std::string> Ids(const v1::JobChanges& changes) {
    std::vector<std::string> ids;
    for (const v1::JobChanges::Change& change : changes.changes()) ids.push_back(change.job_id());
    return ids;
  }
  std::string token_;
};

TEST_F(JobWatchesTest, TellsWhatChanges) {
  auto watch = Start({});
  const v1::JobChanges first = Next(*watch);
  EXPECT_TRUE(first.changes().empty());
  EXPECT_NE(first.resume_token(), "");
  EXPECT_EQ(Await(watch->Next(kNothingComes)).value(), std::nullopt);
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(Await(service_->Create("q", MakeJob("of_another_project"))));
  EXPECT_EQ(NextInState(*watch, "j", Job::SUCCEEDED).machines(), "BASIC");
  auto late = Start({.resume_token = first.resume_token()});
  EXPECT_THAT(Ids(Next(*late)), ElementsAre("j")) << "once, however often it changed";
}

TEST_F(JobWatchesTest, LosesNothingOverAKill) {
  auto watch = Start({});
  ASSERT_TRUE(Create(MakeJob("stays_a")));
  NextInState(*watch, "stays_a", Job::RUNNING);
  watch.reset();
  ASSERT_TRUE(Create(MakeJob("b")));
  ASSERT_TRUE(WaitForState("b", Job::SUCCEEDED));
  KillServer();
  StartServer();
  watch = Start({.resume_token = token_});
  ASSERT_TRUE(Cancel("stays_a"));
  NextInState(*watch, "b", Job::SUCCEEDED);
  NextInState(*watch, "stays_a", Job::CANCELLED);
}

TEST_F(JobWatchesTest, AJobThatStopsToMatchIsToldOfWithoutItsRow) {
  auto watch = Start({.filter = "state=RUNNING OR labels.team=x"});
  Next(*watch);
  ASSERT_TRUE(Create(MakeJob("stays")));
  NextInState(*watch, "stays", Job::RUNNING);
  ASSERT_TRUE(Cancel("stays"));
  for (bool is_over = false; !is_over;) {
    const v1::JobChanges changes = Next(*watch);
    ASSERT_EQ(changes.changes_size(), 1);
    is_over = !changes.changes(0).has_job();
  }
}

TEST_F(JobWatchesTest, TellsOfRemovedJobs) {
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  auto watch = Start({});
  const std::string before = Next(*watch).resume_token();
  ASSERT_TRUE(Await(service_->removal().Delete({"p", "j"})));
  const v1::JobChanges changes = Next(*watch);
  EXPECT_THAT(Ids(changes), ElementsAre("j"));
  EXPECT_FALSE(changes.changes(0).has_job());
  auto late = Start({.resume_token = before});
  EXPECT_THAT(Ids(Next(*late)), ElementsAre("j"));
}

TEST_F(JobWatchesTest, CutsWhatIsMuch) {
  auto watch = Start({});
  const int jobs = JobWatches::kChangesMax + 5;
  for (int i = 0; i < jobs; ++i) ASSERT_TRUE(Create(MakeJob("stays_" + std::to_string(i))));
  std::set<std::string> seen;
  while (std::ssize(seen) < jobs) {
    const v1::JobChanges changes = Next(*watch);
    EXPECT_LE(changes.changes_size(), JobWatches::kChangesMax);
    for (const std::string& id : Ids(changes)) seen.insert(id);
  }
}

TEST_F(JobWatchesTest, LosesNoTouchHoweverManyThereAre) {
  const std::size_t jobs = JobWatches::kTouchedMax + 5;
  for (std::size_t i = 0; i < jobs; ++i) ASSERT_TRUE(Create(MakeJob("stays_" + std::to_string(i))));
  auto watch = Start({});
  while (Await(watch->Next(kNothingComes)).value()) {  // changes caused by their creation
  }
  const auto touch = service_->watches().Toucher();
  std::set<std::string> seen;
  for (std::size_t i = 0; i < jobs; ++i) {
    v1::JobRecord job;
    job.set_project("p");
    job.mutable_job()->set_job_id("stays_" + std::to_string(i));
    touch(job);
  }
  while (seen.size() < jobs) {
    const auto changes = Await(watch->Next(kWaitMax));
    ASSERT_TRUE(changes && *changes) << seen.size() << " of " << jobs;
    for (const std::string& id : Ids(**changes)) seen.insert(id);
  }
}

TEST_F(JobWatchesTest, SaysHowLongLogsAre) {
  ASSERT_TRUE(Create(MakeJob("j")));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  ASSERT_TRUE(WaitUntilQuiet());
  auto watch = Start({.logs_of = {"j", "j", "none"}});
  v1::JobChanges changes = Next(*watch);
  ASSERT_EQ(changes.logs_size(), 1);
  EXPECT_EQ(changes.logs(0).job_id(), "j");
  const std::int64_t lines = changes.logs(0).lines();
  EXPECT_EQ(lines, std::ssize(Lines("j")));
  ASSERT_TRUE(Create(MakeJob("stays")));
  changes = Next(*watch);
  EXPECT_TRUE(changes.logs().empty()) << "another job's lines";
  auto other = Start({.logs_of = {"stays"}});
  std::int64_t last = -1;
  while (last < 5) {
    for (const v1::JobChanges::LogLength& log : Next(*other).logs()) {
      EXPECT_GT(log.lines(), last);
      last = log.lines();
    }
  }
}

TEST_F(JobWatchesTest, RefusesWhatItCannotFollow) {
  EXPECT_EQ(Refused({.filter = "("}).field, "filter");
  EXPECT_EQ(Refused({.resume_token = "x"}).field, "resume_token");
  EXPECT_EQ(Refused({.logs_of = std::vector<std::string>(JobWatches::kLogsMax + 1, "j")}).field, "logs_of");
}

TEST_F(JobWatchesTest, AWatchMayOutliveTheServer) {
  auto watch = Start({.logs_of = {"j"}});
  ASSERT_TRUE(Create(MakeJob("stays")));
  KillServer();
  watch.reset();
  StartServer();
}

}  // namespace
}  // namespace trainyard::control
