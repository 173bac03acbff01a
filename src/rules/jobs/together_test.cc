#include "rules/jobs/together.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/wire/time.h"
#include "rules/jobs/prepare.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using control::v1::JobRecord;
using replica::v1::ExitRecord;
using testing::ElementsAre;
using testing::SizeIs;
using namespace std::chrono_literals;

constexpr SysTime kNow{1'700'000'000s};

class StepsTogether : public testing::Test {
 protected:
  explicit StepsTogether(const std::string& input = "region: 'us-central1'") {
    ml::v1::Job request;
    request.set_job_id("census_1");
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(input, request.mutable_training_input()));
    Event created;
    *created.mutable_created()->mutable_record() = MakeRecord("my-project", request, "2.15", kNow);
    created_ = StepAfter(JobRecord{}, std::move(created), kNow).value();
    seen_.replicas.resize(static_cast<std::size_t>(created_.after.replicas_size()));
    seen_.asked_try = 1;
  }

  void Grant() {
    seen_.grant.emplace().set_try_number(1);
    for (int i = 0; i < created_.after.replicas_size(); ++i) seen_.grant->add_slots()->set_port(2222 + i);
  }
  /// The names of the events, from the first on, that are stored together.
  std::vector<std::string> Together(Step first, const JumpedSince& jumped_since = nullptr) {
    Steps steps{std::move(first)};
    AddFollowing(steps, seen_, jumped_since, kNow);
    std::vector<std::string> names;
    std::int64_t seq = steps.front().event.seq();
    for (const Step& step : steps) {
      EXPECT_EQ(step.event.seq(), seq++);
      EXPECT_EQ(step.after.revision(), step.event.seq());
      EXPECT_EQ(wire::FromProto(step.event.time()), kNow);
      NoteRecorded(step.event, step.after, seen_);
      names.emplace_back(EventName(step.event.kind_case()));
    }
    job_ = std::move(steps.back().after);
    return names;
  }
  /// The same for the event that the rules record now.
  std::vector<std::string> Together() {
    const std::vector<Action> actions = NextActions(job_, seen_, kNow);
    return Together(StepAfter(job_, std::get<AppendEvent>(actions.at(0)).event, kNow).value());
  }
  void Launch() {
    Grant();
    EXPECT_THAT(Together(created_), ElementsAre("Created", "Admitted", "Launched"));
    for (int i = 0; i < job_.replicas_size(); ++i) {
      ReplicaObservation& seen = seen_.replicas[static_cast<std::size_t>(i)];
      seen.started = true;
      seen.phase = replica::v1::RUNNING;
      *seen.endpoint.emplace().mutable_replica() = job_.replicas(i).id();
    }
  }
  void End(std::size_t replica, int status) {
    ExitRecord& exit = seen_.replicas[replica].exit.emplace();
    exit.set_cause(ExitRecord::EXITED);
    exit.set_exit_code(status);
    seen_.replicas[replica].phase = replica::v1::ENDED;
  }

  Step created_;
  JobRecord job_;  ///< after Together
  Observation seen_;
};

TEST_F(StepsTogether, AJobThatWaitsIsCreatedAlone) {
  EXPECT_THAT(Together(created_), ElementsAre("Created"));
}

TEST_F(StepsTogether, WithRoomAtOnceAJobIsLaunchedWithItsCreation) {
  Launch();
  EXPECT_EQ(job_.job().state(), ml::v1::Job::PREPARING);
  EXPECT_EQ(job_.replicas(0).slot().port(), 2222);
  EXPECT_EQ(job_.replicas(0).attempt(), 1);
}

TEST_F(StepsTogether, NothingIsLaunchedOnAFullDisk) {
  seen_.disk_full = "The disk is full.";
  Grant();
  EXPECT_THAT(Together(created_), ElementsAre("Created", "Admitted"));
}

TEST_F(StepsTogether, TheEndOfAJobOfOneReplicaIsOne) {
  Launch();
  EXPECT_THAT(Together(), ElementsAre("Running"));
  End(0, 0);
  EXPECT_THAT(Together(), ElementsAre("ReplicaEnded", "Concluded", "Ended"));
  EXPECT_EQ(job_.job().state(), ml::v1::Job::SUCCEEDED);
}

TEST_F(StepsTogether, AJobThatEndedBeforeItWasSeenRunningWasRunning) {
  Launch();
  End(0, 0);
  EXPECT_THAT(Together(), ElementsAre("Running", "ReplicaEnded", "Concluded", "Ended"));
}

/// The limit of a job that waited through a jump of the clock has not come.
TEST_F(StepsTogether, JumpsOfTheClockDoNotCount) {
  Grant();
  ml::v1::Job& job = *created_.after.mutable_job();
  job.mutable_training_input()->mutable_scheduling()->mutable_max_wait_time()->set_seconds(3600);
  *job.mutable_create_time() = wire::ToProto(kNow - 2h);
  EXPECT_THAT(Together(created_, [](SysTime) { return 90min; }),
              ElementsAre("Created", "Admitted", "Launched"));
  EXPECT_THAT(Together(created_), ElementsAre("Created", "CancelRequested", "Ended"));
}

class StepsOfAGang : public StepsTogether {
 protected:
  StepsOfAGang()
      : StepsTogether(
            "region: 'us-central1' scale_tier: CUSTOM master_type: 'n1-standard-4' worker_type: "
            "'n1-standard-4' worker_count: 20") {}
};

TEST_F(StepsOfAGang, ALaunchedReplicaIsAnotherAttempt) {
  Launch();
  EXPECT_THAT(Together(), ElementsAre("Running"));
  Event restart;
  *restart.mutable_maintenance_requested()->mutable_replica() = job_.replicas(1).id();
  restart.mutable_maintenance_requested()->set_attempt(1);
  EXPECT_THAT(Together(StepAfter(job_, restart, kNow).value()), ElementsAre("MaintenanceRequested"));
  End(1, 1);
  seen_.replicas[1].exit->set_cause(ExitRecord::STOPPED);
  EXPECT_THAT(Together(), ElementsAre("ReplicaEnded"));
  EXPECT_THAT(Together(), ElementsAre("RestartDecided", "Launched"));
  EXPECT_FALSE(seen_.replicas[1].exit) << "nothing is known of it";
}

TEST_F(StepsOfAGang, HowItEndsIsStoredBeforeItsEndIsSaid) {
  Launch();
  EXPECT_THAT(Together(), ElementsAre("Running"));
  End(0, 0);
  for (std::size_t i = 1; i < 21; ++i) End(i, 7);
  std::vector<std::string> names;
  while (std::ranges::find(names, "Concluded") == names.end()) names = Together();
  EXPECT_EQ(names.back(), "Concluded");
  EXPECT_THAT(Together(), ElementsAre("Ended"));
  EXPECT_EQ(job_.job().state(), ml::v1::Job::SUCCEEDED);
}

TEST_F(StepsOfAGang, ATransactionIsBounded) {
  Launch();
  EXPECT_THAT(Together(), ElementsAre("Running"));
  for (std::size_t i = 0; i < 21; ++i) End(i, 0);
  EXPECT_THAT(Together(), SizeIs(kStepsMax));
}

}  // namespace
}  // namespace trainyard::jobs
