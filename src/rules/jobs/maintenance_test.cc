#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/time.h"
#include "rules/jobs/decide.h"
#include "rules/jobs/restart_policy.h"
#include "rules/jobs/testing/simulated_job.h"

namespace trainyard::jobs {
namespace {

using ml::v1::Job;
using replica::v1::ExitRecord;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kPair[] =
    "region: 'us-central1' scale_tier: CUSTOM master_type: 'n1-standard-4' worker_type: 'n1-standard-4' "
    "worker_count: 1";

TEST(Maintenance, MovesOneReplicaAndCountsAsNothing) {
  SimulatedJob job(kPair);
  job.BringUp();
  for (int round = 0; round < 2 * kRestartsMax; ++round) {
    job.Maintain(1);
    EXPECT_THAT(job.Settle(), ElementsAre("move worker 0"));
    EXPECT_THAT(job.Settle(), IsEmpty()) << "told once";
    job.End(1, ExitRecord::STOPPED);
    EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "RestartDecided", "Launched", "start worker 0"));
    job.Reach(1, replica::v1::READY);
    EXPECT_THAT(job.Settle(), ElementsAre("open worker 0"));
    job.Reach(1, replica::v1::RUNNING);
    EXPECT_THAT(job.Settle(), IsEmpty());
  }
  EXPECT_EQ(job.job().replicas(1).restarts(), 0);
  EXPECT_EQ(job.job().replicas(1).attempt(), 1 + 2 * kRestartsMax);
  EXPECT_EQ(job.job().job().state(), Job::RUNNING);
}

TEST(Maintenance, AReplicaThatDoesNotObeyIsKilled) {
  SimulatedJob job(kPair);
  job.BringUp();
  job.Maintain(1);
  job.Settle();
  EXPECT_EQ(job.wake_time(), job.now() + kKillAfter);
  job.Pass(kKillAfter);
  EXPECT_THAT(job.Settle(), ElementsAre("kill worker 0"));
}

TEST(Maintenance, IsToldAgainByTheNextServer) {
  SimulatedJob job(kPair);
  job.BringUp();
  job.Maintain(1);
  job.Settle();
  job.RestartServer();
  EXPECT_THAT(job.Settle(), ElementsAre("move worker 0"));
}

TEST(Maintenance, OfAProgramThatEndsFirstIsItsEnd) {
  SimulatedJob job(kPair);
  job.BringUp();
  job.Maintain(0);
  job.Settle();
  job.End(0, ExitRecord::EXITED, 0);
  EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "Concluded", "stop worker 0"));
}

TEST(Maintenance, IsRefusedForWhatDoesNotRun) {
  SimulatedJob job(kPair);
  job.Admit();
  job.Settle();
  job.Maintain(1);
  EXPECT_THAT(job.Settle(), IsEmpty()) << "not before the job runs";
  EXPECT_FALSE(job.job().replicas(1).maintenance());
}

TEST(Shutdown, RestartsOneReplicaAndCountsAsNothing) {
  SimulatedJob job(kPair);
  job.BringUp();
  for (int round = 0; round < 2 * kRestartsMax; ++round) {
    job.End(1, ExitRecord::SHUT_DOWN);
    EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "RestartDecided", "Launched", "start worker 0"));
    job.Reach(1, replica::v1::READY);
    EXPECT_THAT(job.Settle(), ElementsAre("open worker 0"));
    job.Reach(1, replica::v1::RUNNING);
    EXPECT_THAT(job.Settle(), IsEmpty());
  }
  EXPECT_EQ(job.job().replicas(1).restarts(), 0);
  EXPECT_EQ(job.job().replicas(1).attempt(), 1 + 2 * kRestartsMax);
  EXPECT_EQ(job.job().retries(), 0);
}

TEST(Shutdown, OfTheWholeGangStartsItAgain) {
  SimulatedJob job(kPair);
  job.BringUp();
  job.End(0, ExitRecord::SHUT_DOWN);
  job.End(1, ExitRecord::SHUT_DOWN);
  job.Settle();
  EXPECT_EQ(job.job().replicas(0).attempt(), 2);
  EXPECT_EQ(job.job().replicas(1).attempt(), 2);
  EXPECT_EQ(job.job().replicas(0).restarts() + job.job().replicas(1).restarts(), 0);
}

TEST(Shutdown, BesideAFailureThatCountsItself) {
  SimulatedJob job(kPair);
  job.BringUp();
  job.End(0, ExitRecord::SHUT_DOWN);
  job.End(1, ExitRecord::SIGNALED, 9);
  job.Settle();
  EXPECT_EQ(job.job().replicas(0).restarts(), 0);
  EXPECT_EQ(job.job().replicas(1).restarts(), 1);
}

TEST(Shutdown, OfAJobThatIsOverEndsIt) {
  SimulatedJob job(kPair);
  job.BringUp();
  job.Cancel("Enough.");
  job.Settle();
  job.End(0, ExitRecord::SHUT_DOWN);
  job.End(1, ExitRecord::SHUT_DOWN);
  EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "ReplicaEnded", "Ended"));
}

TEST(Shortage, IsTriedAgainAndCountsAsNothing) {
  control::v1::JobRecord job;
  control::v1::ReplicaRecord& replica = *job.add_replicas();
  replica.mutable_id()->set_type(replica::v1::MASTER);
  replica.set_attempt(9);
  replica.set_restarts(kRestartsMax);
  job.set_retries(kRetriesMax);
  replica.mutable_exit()->set_cause(ExitRecord::PREPARATION_FAILED);
  replica.mutable_exit()->set_message("clone: Resource temporarily unavailable");
  const ExitContext time{.now = SysTime(std::chrono::seconds(1'600'000'000))};
  EXPECT_TRUE(DecideOnExits(job, time)->has_concluded()) << "a preparation that failed by itself";
  replica.mutable_exit()->set_shortage(true);
  EXPECT_FALSE(CountsAsRestart(replica));
  const auto decided = DecideOnExits(job, time);
  ASSERT_TRUE(decided && decided->has_restart_decided());
  EXPECT_EQ(wire::FromProto(decided->restart_decided().not_before()), time.now + kShortagePause);
  EXPECT_EQ(decided->restart_decided().reason(),
            "The replica master 0 could not be started: clone: Resource temporarily unavailable. It is "
            "retried in 5 s. This does not count as a restart.");
}

TEST(RestartPause, AnotherServerWaitsForTheRest) {
  SimulatedJob job(kPair);
  job.BringUp();
  job.End(1, ExitRecord::SIGNALED, 9);
  job.Settle();
  job.End(1, ExitRecord::SIGNALED, 9);
  EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "RestartDecided"));
  job.RestartServer();
  job.Pass(kRestartPause / 2);
  EXPECT_THAT(job.Settle(), IsEmpty());
  ASSERT_EQ(job.wake_time(), job.now() + kRestartPause / 2);
  job.Pass(kRestartPause / 2);
  EXPECT_THAT(job.Settle(), ElementsAre("Launched", "start worker 0"));
}

TEST(RestartPause, EndsWithTheJob) {
  SimulatedJob job(kPair);
  job.BringUp();
  job.End(1, ExitRecord::SIGNALED, 9);
  job.Settle();
  job.End(1, ExitRecord::SIGNALED, 9);
  job.Settle();
  job.Cancel("Enough.");
  EXPECT_THAT(job.Settle(), ElementsAre("stop master 0"));
  job.End(0, ExitRecord::STOPPED);
  EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "Ended"));
}

}  // namespace
}  // namespace trainyard::jobs
