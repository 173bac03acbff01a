#include "rules/jobs/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "rules/jobs/peers.h"
#include "rules/jobs/restart_policy.h"
#include "rules/jobs/testing/simulated_job.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::jobs {
namespace {

using ml::v1::Job;
using replica::v1::ExitRecord;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr char kSingle[] = "region: 'us-central1'";
/// master 0, worker 0, worker 1, ps 0, evaluator 0: positions 0 to 4.
constexpr char kGang[] =
    "region: 'us-central1' scale_tier: CUSTOM master_type: 'n1-standard-4' worker_type: 'n1-standard-4' "
    "worker_count: 2 "
    "parameter_server_type: 'n1-standard-4' parameter_server_count: 1 evaluator_type: 'n1-standard-4' "
    "evaluator_count: 1";

TEST(NextActions, ASingleReplicaFromQueueToSuccess) {
  SimulatedJob job(kSingle);
  EXPECT_THAT(job.Settle(), IsEmpty()) << "it waits to be admitted";
  job.Admit();
  EXPECT_THAT(job.Settle(), ElementsAre("Admitted", "Launched", "start master 0"));
  EXPECT_EQ(job.job().job().state(), Job::PREPARING);
  EXPECT_TRUE(job.job().job().has_start_time());
  job.Reach(0, replica::v1::READY);
  EXPECT_THAT(job.Settle(), ElementsAre("open master 0"));
  job.Reach(0, replica::v1::RUNNING);
  EXPECT_THAT(job.Settle(), ElementsAre("Running"));
  EXPECT_EQ(job.job().job().state(), Job::RUNNING);
  job.Pass(3600s);
  job.End(0, ExitRecord::EXITED);
  EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "Concluded", "Ended"));
  EXPECT_EQ(job.job().job().state(), Job::SUCCEEDED);
  EXPECT_EQ(job.job().job().error_message(), "");
  EXPECT_DOUBLE_EQ(job.job().job().training_output().consumed_ml_units(), 0.38);
  EXPECT_THAT(
      job.lines(),
      ElementsAre("Validating job requirements...", "Job creation request has been successfully validated.",
                  "Job census_1 is queued.", "Waiting for job to be provisioned.", "It shares this machine.",
                  "Waiting for training program to start.", "Job is preparing.", "Job is running.",
                  "Finished tearing down training program.", "Job completed successfully."));
}

TEST(NextActions, RoomThatIsTakenBackIsAskedForAgainAndCountsAsNoRetry) {
  SimulatedJob job(kGang);
  job.BringUp();
  job.Revoke("The node node-2 is lost.");
  EXPECT_THAT(job.Settle(), ElementsAre("Revoked", "ReplicaEnded", "ReplicaEnded", "ReplicaEnded",
                                        "ReplicaEnded", "ReplicaEnded"))
      << "it waits for the allocator";
  EXPECT_EQ(job.job().retries(), 0);
  EXPECT_EQ(job.job().job().state(), Job::RUNNING);
  job.Admit();
  EXPECT_THAT(job.Settle(),
              ElementsAre("Admitted", "RetryStarted", "Launched", "start master 0", "start worker 0",
                          "start worker 1", "start ps 0", "start evaluator 0"));
  EXPECT_EQ(job.job().try_number(), 2);
  EXPECT_THAT(job.lines(),
              testing::Contains("The node node-2 is lost. The whole job restarts when resources are free."));
}

TEST(NextActions, AJobThatIsEndingAsksForNoNewRoom) {
  SimulatedJob job(kSingle);
  job.BringUp();
  job.Cancel("Enough.");
  job.Settle();
  job.Revoke("The node node-2 is lost.");
  EXPECT_THAT(job.Settle(), ElementsAre("Revoked", "ReplicaEnded", "Ended"));
  EXPECT_EQ(job.job().job().state(), Job::CANCELLED);
}

TEST(NextActions, AProgramSoFastThatOnlyItsEndIsSeenWasRunning) {
  SimulatedJob job(kSingle);
  job.Admit();
  job.Settle();
  job.End(0, ExitRecord::EXITED);
  EXPECT_THAT(job.Settle(), ElementsAre("Running", "ReplicaEnded", "Concluded", "Ended"));
}

TEST(NextActions, TheBarrierOpensForTheWholeGangAtOnce) {
  SimulatedJob job(kGang);
  job.Admit();
  EXPECT_THAT(job.Settle(), ElementsAre("Admitted", "Launched", "start master 0", "start worker 0",
                                        "start worker 1", "start ps 0", "start evaluator 0"));
  for (int i = 0; i < 4; ++i) job.Reach(i, replica::v1::READY);
  EXPECT_THAT(job.Settle(), IsEmpty()) << "the evaluator is missing";
  job.Reach(4, replica::v1::READY);
  EXPECT_THAT(job.Settle(), ElementsAre("open master 0", "open worker 0", "open worker 1", "open ps 0",
                                        "open evaluator 0"));
  for (int i = 0; i < 4; ++i) job.Reach(i, replica::v1::RUNNING);
  EXPECT_THAT(job.Settle(), IsEmpty());
  job.Reach(4, replica::v1::RUNNING);
  EXPECT_THAT(job.Settle(), ElementsAre("Running"));
}

TEST(NextActions, TheMasterDecidesAndTheOthersAreStopped) {
  SimulatedJob job(kGang);
  job.BringUp();
  job.End(0, ExitRecord::EXITED);
  EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "Concluded", "stop worker 0", "stop worker 1",
                                        "stop ps 0", "stop evaluator 0"));
  EXPECT_EQ(job.job().job().state(), Job::RUNNING) << "something of it still runs";
  for (int i = 1; i < 5; ++i) job.End(i, i == 3 ? ExitRecord::STOPPED : ExitRecord::EXITED, i == 4 ? 1 : 0);
  job.Settle();
  EXPECT_EQ(job.job().job().state(), Job::SUCCEEDED) << "how the others end does not matter any more";
}

TEST(NextActions, OthersMayEndEarlyWithSuccess) {
  SimulatedJob job(kGang);
  job.BringUp();
  for (int i = 1; i < 5; ++i) job.End(i, ExitRecord::EXITED, 0);
  job.Settle();
  EXPECT_EQ(job.job().job().state(), Job::RUNNING);
  EXPECT_EQ(job.starts(), 5);
  job.End(0, ExitRecord::EXITED);
  job.Settle();
  EXPECT_EQ(job.job().job().state(), Job::SUCCEEDED);
}

struct PermanentRow {
  const char* name;
  ExitRecord::Cause cause;
  int status;
  const char* sentence;
};
class Permanent : public testing::TestWithParam<PermanentRow> {};

TEST_P(Permanent, FailsTheJob) {
  SimulatedJob job(kGang);
  job.BringUp();
  job.End(2, GetParam().cause, GetParam().status);
  if (GetParam().status == 1) {  // it might be due to a peer that is not known to have ended yet
    EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded"));
    job.Pass(kHoldBack);
    EXPECT_THAT(job.Settle(),
                ElementsAre("Concluded", "stop master 0", "stop worker 0", "stop ps 0", "stop evaluator 0"));
  } else {
    EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "Concluded", "stop master 0", "stop worker 0",
                                          "stop ps 0", "stop evaluator 0"));
  }
  for (int i : {0, 1, 3, 4}) job.End(i, ExitRecord::STOPPED);
  job.Settle();
  EXPECT_EQ(job.job().job().state(), Job::FAILED);
  EXPECT_THAT(job.job().job().error_message(), testing::StartsWith(GetParam().sentence));
  EXPECT_EQ(job.starts(), 5);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Permanent,
    testing::Values(
        PermanentRow{"exit_1", ExitRecord::EXITED, 1,
                     "The replica worker 1 exited with a non-zero status of 1. "},
        PermanentRow{"exit_2", ExitRecord::EXITED, 2,
                     "The replica worker 1 exited with a non-zero status of 2. "},
        PermanentRow{"exit_126", ExitRecord::EXITED, 126,
                     "The replica worker 1 exited with a non-zero status of 126. "},
        PermanentRow{"exit_127", ExitRecord::EXITED, 127,
                     "The replica worker 1 exited with a non-zero status of 127. "},
        PermanentRow{
            "oom", ExitRecord::OUT_OF_MEMORY, 0,
            "The replica worker 1 ran out-of-memory and exited with a non-zero status of 9(SIGKILL) "},
        PermanentRow{"preparation", ExitRecord::PREPARATION_FAILED, 0,
                     "The replica worker 1 exited with a non-zero status of 1. "}),
    [](const auto& row) { return std::string(row.param.name); });

struct TransientRow {
  const char* name;
  ExitRecord::Cause cause;
  int status;
};
class Transient : public testing::TestWithParam<TransientRow> {};

TEST_P(Transient, RestartsTheReplicaFiveTimesThenTheJobThreeTimes) {
  SimulatedJob job(kGang);
  job.BringUp();
  for (int retry = 0; retry <= kRetriesMax; ++retry) {
    for (int restart = 0; restart < kRestartsMax; ++restart) {
      job.End(1, GetParam().cause, GetParam().status);
      auto restarted = job.Settle();
      const std::chrono::milliseconds pause = RestartPause(restart, kRestartPause);
      if (pause > 0ms) {
        EXPECT_THAT(restarted, ElementsAre("ReplicaEnded", "RestartDecided")) << "it waits";
        ASSERT_EQ(job.wake_time(), job.now() + pause);
        job.Pass(pause);
        const auto started = job.Settle();
        restarted.insert(restarted.end(), started.begin(), started.end());
      }
      EXPECT_THAT(restarted, ElementsAre("ReplicaEnded", "RestartDecided", "Launched", "start worker 0"));
      EXPECT_EQ(job.job().job().state(), Job::RUNNING) << "the state stays while it restarts";
      job.Reach(1, replica::v1::READY);
      EXPECT_THAT(job.Settle(), ElementsAre("open worker 0"))
          << "the others run: it goes right through the barrier";
      job.Reach(1, replica::v1::RUNNING);
      EXPECT_THAT(job.Settle(), IsEmpty());
    }
    job.End(1, GetParam().cause, GetParam().status);
    const auto done = job.Settle();
    EXPECT_THAT(done, ElementsAre("ReplicaEnded", retry < kRetriesMax ? "RetryDecided" : "Concluded",
                                  "stop master 0", "stop worker 1", "stop ps 0", "stop evaluator 0"));
    for (int i : {0, 2, 3, 4}) job.End(i, ExitRecord::STOPPED);
    job.Settle();
    if (retry == kRetriesMax) break;
    EXPECT_EQ(job.job().job().state(), Job::RUNNING);
    for (int i = 0; i < 5; ++i) job.Reach(i, replica::v1::READY);
    EXPECT_THAT(job.Settle(), ElementsAre("open master 0", "open worker 0", "open worker 1", "open ps 0",
                                          "open evaluator 0"));
    for (int i = 0; i < 5; ++i) job.Reach(i, replica::v1::RUNNING);
    job.Settle();
  }
  EXPECT_EQ(job.job().job().state(), Job::FAILED);
  EXPECT_EQ(job.starts(), (kRetriesMax + 1) * (5 + kRestartsMax));
  EXPECT_THAT(job.job().job().error_message(),
              testing::HasSubstr("The replica was restarted 5 times, the whole job was retried 3 times."));
  EXPECT_EQ(job.job().replicas(1).attempt(), (kRetriesMax + 1) * (1 + kRestartsMax))
      << "attempts count on over retries";
}

INSTANTIATE_TEST_SUITE_P(Rules, Transient,
                         testing::Values(TransientRow{"exit_134", ExitRecord::EXITED, 134},
                                         TransientRow{"exit_143", ExitRecord::EXITED, 143},
                                         TransientRow{"sigkill", ExitRecord::SIGNALED, 9},
                                         TransientRow{"sigsegv", ExitRecord::SIGNALED, 11},
                                         TransientRow{"lost", ExitRecord::LOST, 0},
                                         TransientRow{"stopped_by_nobody", ExitRecord::STOPPED, 0}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(NextActions, ALostMasterRestartsToo) {
  SimulatedJob job(kSingle);
  job.BringUp();
  job.End(0, ExitRecord::LOST);
  EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "RestartDecided", "Launched", "start master 0"));
  job.Reach(0, replica::v1::READY);
  EXPECT_THAT(job.Settle(), ElementsAre("open master 0"));
}

TEST(NextActions, AReplicaLostBeforeTheBarrierHoldsItClosed) {
  SimulatedJob job(kGang);
  job.Admit();
  job.Settle();
  for (int i = 0; i < 4; ++i) job.Reach(i, replica::v1::READY);
  job.End(4, ExitRecord::LOST);
  EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "RestartDecided", "Launched", "start evaluator 0"));
  EXPECT_EQ(job.job().job().state(), Job::PREPARING);
  job.Reach(4, replica::v1::READY);
  EXPECT_EQ(job.Settle().size(), 5U) << "now it opens for all";
}

TEST(NextActions, CancelBeforeAnythingStarted) {
  SimulatedJob job(kSingle);
  job.Cancel("Cancelled by the user.");
  EXPECT_THAT(job.Settle(), ElementsAre("Ended"));
  EXPECT_EQ(job.job().job().state(), Job::CANCELLED);
  EXPECT_EQ(job.job().job().error_message(), "Cancelled by the user.");
  EXPECT_FALSE(job.job().job().has_start_time());
  EXPECT_THAT(job.lines(), testing::Not(testing::Contains("Finished tearing down training program.")));
}

TEST(NextActions, CancelStopsEverythingThatLives) {
  SimulatedJob job(kGang);
  job.BringUp();
  job.End(1, ExitRecord::EXITED);
  job.Settle();
  job.Cancel("Cancelled by the user.");
  EXPECT_THAT(job.Settle(), ElementsAre("stop master 0", "stop worker 1", "stop ps 0", "stop evaluator 0"));
  EXPECT_EQ(job.job().job().state(), Job::CANCELLING);
  job.Cancel("again");  // changes nothing
  EXPECT_EQ(job.job().job().error_message(), "Cancelled by the user.");
  for (int i : {0, 2, 3}) job.End(i, ExitRecord::EXITED, 0);
  job.Settle();
  EXPECT_EQ(job.job().job().state(), Job::CANCELLING);
  job.End(4, ExitRecord::LOST);
  job.Settle();
  EXPECT_EQ(job.job().job().state(), Job::CANCELLED);
}

TEST(NextActions, WhatWasLaunchedButNeverStartedIsStartedOnce) {
  SimulatedJob job(kSingle);
  job.Admit();
  job.LoseNextStarts();  // the server is killed right before the start
  EXPECT_THAT(job.Settle(), ElementsAre("Admitted", "Launched", "start master 0", "start master 0"))
      << "started by the next server";
  EXPECT_EQ(job.starts(), 1);
  EXPECT_EQ(job.job().replicas(0).attempt(), 1) << "the same attempt";
}

TEST(NextActions, AReplicaThatDoesNotObeyIsKilled) {
  SimulatedJob job(kSingle);
  job.BringUp();
  job.Cancel("Cancelled by the user.");
  EXPECT_THAT(job.Settle(), ElementsAre("stop master 0"));
  ASSERT_EQ(job.wake_time(), job.now() + kKillAfter);
  job.Pass(kKillAfter);
  EXPECT_THAT(job.Settle(), ElementsAre("kill master 0"));
  EXPECT_FALSE(job.wake_time());
}

TEST(NextActions, AReplicaThatCannotBeToldIsKilledAtTheEndOfItsGrace) {
  SimulatedJob job(kSingle);
  job.BringUp();
  job.Detach(0);
  job.Cancel("Cancelled by the user.");
  EXPECT_THAT(job.Settle(), ElementsAre("stop master 0", "kill master 0"));
}

TEST(NextActions, NothingStartsOnAFullDiskAndWhatRunsGoesOn) {
  SimulatedJob job(kGang);
  job.Admit();
  job.FillDisk("the disk is full");
  EXPECT_THAT(job.Settle(), ElementsAre("Admitted"));
  ASSERT_EQ(job.wake_time(), job.now() + 1s);
  job.FillDisk("");
  job.BringUp();
  job.FillDisk("the disk is full");
  job.End(1, ExitRecord::LOST);
  EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "RestartDecided"));
  EXPECT_FALSE(job.IsAlive(1));
  job.FillDisk("");
  EXPECT_THAT(job.Settle(), ElementsAre("Launched", "start worker 0"));
  job.FillDisk("the disk is full");
  job.End(0, ExitRecord::EXITED, 0);
  job.Settle();
  EXPECT_EQ(job.job().outcome(), Job::SUCCEEDED) << "ends need no room";
}

TEST(NextActions, AfterSuccessNobodyIsWaitedForLong) {
  SimulatedJob job(
      "region: 'us-central1' scale_tier: CUSTOM master_type: 'n1-standard-4' parameter_server_type: "
      "'n1-standard-4' parameter_server_count: 1");
  job.BringUp();
  job.End(0, replica::v1::ExitRecord::EXITED, 0);
  EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "Concluded", "stop ps 0"));
  ASSERT_EQ(job.wake_time(), job.now() + kSuccessGrace);
  job.Pass(kSuccessGrace);
  EXPECT_THAT(job.Settle(), ElementsAre("hurry ps 0"));
  ASSERT_EQ(job.wake_time(), job.now() + kKillAfter);
  job.Pass(kKillAfter);
  EXPECT_THAT(job.Settle(), ElementsAre("kill ps 0"));
}

TEST(NextActions, MaxWaitTimeCountsUntilTheFirstRunning) {
  constexpr char kInput[] = "scheduling { max_wait_time { seconds: 1800 } }";
  SimulatedJob waits(kInput);
  waits.Settle();
  ASSERT_EQ(waits.wake_time(), waits.now() + 1800s);
  waits.Pass(1800s - 1ns);
  EXPECT_THAT(waits.Settle(), IsEmpty());
  waits.Pass(1ns);
  EXPECT_THAT(waits.Settle(), ElementsAre("CancelRequested", "Ended"));
  EXPECT_EQ(waits.job().job().state(), Job::CANCELLED);
  EXPECT_EQ(
      waits.job().job().error_message(),
      "The job did not start running within its maximum wait time of 1800s. Raise scheduling.maxWaitTime, or "
      "free the resources that it waited for.");

  SimulatedJob prepares(kInput);
  prepares.Admit();
  prepares.Settle();
  prepares.Pass(1800s);
  EXPECT_THAT(prepares.Settle(), ElementsAre("CancelRequested", "stop master 0"));

  SimulatedJob runs(kInput);
  runs.BringUp();
  runs.Pass(2000s);
  runs.End(0, ExitRecord::LOST);
  runs.Settle();
  EXPECT_EQ(runs.job().job().state(), Job::RUNNING) << "never after the first RUNNING, restarts included";
}

TEST(NextActions, MaxRunningTimeCountsFromTheFirstRunning) {
  SimulatedJob job("scheduling { max_running_time { seconds: 7200 } }");
  job.Pass(100000s);
  job.BringUp();
  ASSERT_EQ(job.wake_time(), job.now() + 7200s);
  job.Pass(7200s);
  EXPECT_THAT(job.Settle(), ElementsAre("CancelRequested", "stop master 0"));
  EXPECT_EQ(
      job.job().job().error_message(),
      "The job ran longer than its maximum running time of 7200s. Raise scheduling.maxRunningTime to let it "
      "run longer.");
  SimulatedJob unlimited(kSingle);
  unlimited.BringUp();
  EXPECT_EQ(unlimited.wake_time(), unlimited.now() + 604800s) << "seven days without a limit of its own";
  SimulatedJob endless(
      "scheduling { max_running_time { seconds: 315576000000 } max_wait_time { seconds: 315576000000 } }");
  endless.BringUp();
  EXPECT_FALSE(endless.wake_time()) << "beyond what the clock can show";
}

TEST(NextActions, AnotherServerGoesOnWhereTheFirstDied) {
  SimulatedJob job(kGang);
  job.BringUp();
  const auto revision = job.job().revision();
  job.End(0, ExitRecord::EXITED);  // while no server is there
  job.RestartServer();
  EXPECT_EQ(job.job().revision(), revision);
  EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "Concluded", "stop worker 0", "stop worker 1",
                                        "stop ps 0", "stop evaluator 0"));
  for (int i = 1; i < 5; ++i) job.Reconnect(i);
  EXPECT_THAT(job.Settle(), ElementsAre("stop worker 0", "stop worker 1", "stop ps 0", "stop evaluator 0"))
      << "told again: the first telling may not have arrived";
}

/// Random worlds: for every order of events the job reaches its end without breaking a rule.
class RandomWorld : public testing::TestWithParam<unsigned> {};

void Disturb(SimulatedJob& job, std::mt19937& random) {
  const int replica = static_cast<int>(random() % static_cast<unsigned>(job.job().replicas_size()));
  constexpr ExitRecord::Cause kCauses[] = {
      ExitRecord::EXITED,  ExitRecord::SIGNALED, ExitRecord::OUT_OF_MEMORY, ExitRecord::PREPARATION_FAILED,
      ExitRecord::STOPPED, ExitRecord::LOST,     ExitRecord::SHUT_DOWN};
  constexpr int kStatus[] = {0, 0, 1, 3, 6, 9, 127, 137};
  switch (random() % 18) {
    case 0: job.Admit(); break;
    case 1:
    case 2:
      if (job.IsAlive(replica)) job.Reach(replica, replica::v1::READY);
      break;
    case 3:
    case 4:
      if (job.IsAlive(replica)) job.Reach(replica, replica::v1::RUNNING);
      break;
    case 5:
    case 6:
    case 7: {
      // permanent causes are rarer, so that restarts and retries happen
      const auto cause = random() % 3 == 0 ? kCauses[random() % std::size(kCauses)] : ExitRecord::SIGNALED;
      if (job.IsAlive(replica)) job.End(replica, cause, kStatus[random() % 8]);
      break;
    }
    case 8: job.RestartServer(); break;
    case 9: job.LoseNextStarts(); break;
    case 10: job.Reconnect(replica); break;
    case 11:
      if (random() % 20 == 0 && !job.ended()) job.Cancel("by chance");
      break;
    case 13: job.Maintain(replica); break;
    case 12: job.Pass(std::chrono::seconds(random() % 100)); break;
    default:  // everything that was told to stop does
      for (int i = 0; i < job.job().replicas_size(); ++i) {
        if (job.IsAlive(i) && job.IsStopping(i))
          job.End(i, kCauses[random() % std::size(kCauses)], kStatus[random() % 8]);
      }
  }
}

TEST_P(RandomWorld, EndsAndNeverStartsAReplicaTwice) {
  std::mt19937 random(GetParam());
  SimulatedJob job(GetParam() % 2 == 0 ? kGang : kSingle);
  for (int step = 0; step < 400 && !job.ended(); ++step) {
    Disturb(job, random);
    job.Settle();
    ASSERT_FALSE(HasFatalFailure()) << "seed " << GetParam() << ", step " << step;
  }
  // A limit ends it if nothing did; then all that lives stops.
  if (!job.ended()) job.Cancel("at last");
  for (int round = 0; round < 10 && !job.ended(); ++round) {
    job.RestartServer();
    job.Settle();
    for (int i = 0; i < job.job().replicas_size(); ++i) {
      if (job.IsAlive(i)) job.End(i, ExitRecord::STOPPED);
    }
    job.Settle();
  }
  ASSERT_TRUE(job.ended()) << "seed " << GetParam();
  EXPECT_FALSE(job.AnyAlive());
  EXPECT_THAT(job.Settle(), IsEmpty()) << "an ended job yields nothing";
  // The events alone rebuild the record.
  control::v1::JobRecord again;
  for (const control::v1::Event& event : job.events()) {
    const auto after = Apply(again, event);
    ASSERT_TRUE(after) << after.error().message;
    again = *after;
  }
  EXPECT_EQ(again.SerializeAsString().size(), job.job().SerializeAsString().size());
  EXPECT_EQ(again.DebugString(), job.job().DebugString());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomWorld, testing::Range(1U, 301U));

}  // namespace
}  // namespace trainyard::jobs
