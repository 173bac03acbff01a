#include "rules/jobs/peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/jobs/decide.h"
#include "rules/jobs/restart_policy.h"
#include "rules/jobs/testing/simulated_job.h"
#include "rules/jobs/waiting.h"

namespace trainyard::jobs {
namespace {

using ml::v1::Job;
using replica::v1::ExitRecord;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

/// master 0, worker 0, worker 1, ps 0, evaluator 0: positions 0 to 4.
constexpr char kGang[] =
    "region: 'us-central1' scale_tier: CUSTOM master_type: 'n1-standard-4' worker_type: 'n1-standard-4' "
    "worker_count: 2 parameter_server_type: 'n1-standard-4' parameter_server_count: 1 "
    "evaluator_type: 'n1-standard-4' evaluator_count: 1";
constexpr int kMaster = 0;
constexpr int kWorker = 1;
constexpr int kOtherWorker = 2;
constexpr int kParameterServer = 3;
constexpr int kEvaluator = 4;

enum class Then {
  kRetriedFree,  ///< the whole job starts again, and no retry is used up
  kRetried,      ///< the whole job starts again, and a retry is used up
  kGoesOn,       ///< at most the ended replica starts again
  kFails,
};

struct Ends {
  int replica;
  ExitRecord::Cause cause;
  int status = 0;
  std::chrono::milliseconds after{0};  ///< the server hears of it this long after the end before
  std::chrono::milliseconds ago{0};    ///< when it really was, before the server hears of it
};

/// One row of the table of cases in docs/lifecycle.md.
struct Case {
  const char* name;
  std::vector<int> maintained;
  std::vector<Ends> ends;
  Then then;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

constexpr auto kExited = ExitRecord::EXITED;
constexpr auto kSignaled = ExitRecord::SIGNALED;

class Cases : public testing::TestWithParam<Case> {};

TEST_P(Cases, EndAsTheTableSays) {
  SimulatedJob job(kGang);
  job.BringUp();
  for (const int replica : GetParam().maintained) job.Maintain(replica);
  std::vector<std::string> done = job.Settle();
  for (const Ends& end : GetParam().ends) {
    job.Pass(end.after);
    const auto before = job.Settle();
    done.insert(done.end(), before.begin(), before.end());
    ASSERT_TRUE(job.IsAlive(end.replica)) << testing::PrintToString(done);
    job.End(end.replica, end.cause, end.status, end.ago);
    const auto after = job.Settle();
    done.insert(done.end(), after.begin(), after.end());
  }
  if (GetParam().then != Then::kGoesOn) {
    job.Pass(kHoldBack);
    const auto last = job.Settle();
    done.insert(done.end(), last.begin(), last.end());
  }
  const bool retried = std::ranges::find(done, "RetryDecided") != done.end();
  const bool failed = std::ranges::find(done, "Concluded") != done.end();
  EXPECT_EQ(retried, GetParam().then == Then::kRetried || GetParam().then == Then::kRetriedFree)
      << testing::PrintToString(done);
  EXPECT_EQ(failed, GetParam().then == Then::kFails) << testing::PrintToString(done);
  EXPECT_EQ(job.job().retries(), GetParam().then == Then::kRetried ? 1 : 0);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Cases,
    testing::Values(
        // TensorFlow's collectives: the chief loses a worker and raises UnavailableError.
        Case{"worker_killed_then_chief",
             {},
             {{kWorker, kSignaled, 9}, {kMaster, kExited, 1, 9s}},
             Then::kRetried},
        Case{"chief_heard_before_killed_worker",
             {},
             {{kMaster, kExited, 1}, {kWorker, kSignaled, 9, 3s, 4s}},
             Then::kRetried},
        Case{"chief_killed_then_workers",
             {},
             {{kMaster, kSignaled, 9}, {kWorker, kExited, 1, 20s}},
             Then::kRetried},
        Case{"maintenance_chief_first", {kWorker}, {{kMaster, kExited, 1, 2s}}, Then::kRetriedFree},
        Case{"maintenance_worker_first",
             {kWorker},
             {{kWorker, ExitRecord::STOPPED}, {kMaster, kExited, 1, 50s}},
             Then::kRetriedFree},
        Case{"maintenance_of_the_chief",
             {kMaster},
             {{kMaster, ExitRecord::STOPPED}, {kOtherWorker, kExited, 1, 5s}},
             Then::kRetriedFree},
        Case{"machine_shut_down",
             {},
             {{kWorker, ExitRecord::SHUT_DOWN}, {kMaster, kExited, 1, 1s}},
             Then::kRetriedFree},
        Case{"maintenance_and_abort", {kWorker}, {{kMaster, kSignaled, 6, 2s}}, Then::kRetriedFree},
        // The replica that came back alone does not find its peers any more.
        Case{"killed_worker_comes_back_alone",
             {},
             {{kWorker, kSignaled, 9}, {kWorker, kExited, 1, 30s}},
             Then::kRetried},
        // torch: the gloo and nccl backends raise or abort; torchrun ends with 1.
        Case{"ddp_abort_of_the_peer",
             {},
             {{kWorker, kSignaled, 11, 0ms, 1s}, {kMaster, kSignaled, 6, 1s}},
             Then::kRetried},
        Case{"lost_supervisor", {}, {{kWorker, ExitRecord::LOST}, {kMaster, kExited, 1, 1s}}, Then::kRetried},
        // XGBoost's rabit and MPI's launchers end with exit(-1).
        Case{"rabit", {}, {{kWorker, kSignaled, 9}, {kMaster, kExited, 255, 1s}}, Then::kRetried},
        Case{"crash_by_status",
             {},
             {{kWorker, kExited, 3, 0ms, 1s}, {kMaster, kExited, 1, 1s}},
             Then::kRetried},
        // Asynchronous training does not depend on a worker.
        Case{"asynchronous", {}, {{kWorker, kSignaled, 9}}, Then::kGoesOn},
        Case{"two_workers_killed",
             {},
             {{kWorker, kSignaled, 9}, {kOtherWorker, kSignaled, 9, 5s}},
             Then::kGoesOn},
        // Failures that no peer's end explains.
        Case{"chief_fails_by_itself", {}, {{kMaster, kExited, 1}}, Then::kFails},
        Case{"both_raise", {}, {{kWorker, kExited, 1}, {kMaster, kExited, 1, 1s}}, Then::kFails},
        Case{"abort_after_the_chief",
             {},
             {{kMaster, kExited, 1, 0ms, 2s}, {kWorker, kSignaled, 6, 1s, 1s}},
             Then::kFails},
        Case{"abort_heard_before_the_chief",
             {},
             {{kWorker, kSignaled, 6}, {kMaster, kExited, 1, 1s, 3s}},
             Then::kFails},
        Case{"out_of_memory",
             {},
             {{kMaster, kExited, 1, 0ms, 0ms}, {kWorker, ExitRecord::OUT_OF_MEMORY, 0, 1s, 2s}},
             Then::kFails},
        Case{"usage", {}, {{kWorker, kSignaled, 9}, {kMaster, kExited, 2, 1s}}, Then::kFails},
        Case{"too_late", {}, {{kWorker, kSignaled, 9}, {kMaster, kExited, 1, 61s}}, Then::kFails},
        // Parameter servers and evaluators take no part.
        Case{"parameter_server",
             {},
             {{kParameterServer, kSignaled, 9}, {kMaster, kExited, 1, 1s}},
             Then::kFails},
        Case{"evaluator", {}, {{kEvaluator, kSignaled, 9}, {kMaster, kExited, 1, 1s}}, Then::kFails},
        Case{"evaluator_fails", {}, {{kWorker, kSignaled, 9}, {kEvaluator, kExited, 1, 1s}}, Then::kFails},
        Case{"done_worker", {}, {{kWorker, kExited, 0}, {kMaster, kExited, 1, 1s}}, Then::kFails}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Peers, TheReasonNamesTheFirstCause) {
  SimulatedJob job(kGang);
  job.BringUp();
  job.Maintain(kWorker);
  job.Settle();
  job.End(kMaster, kExited, 1);
  EXPECT_THAT(job.Settle(),
              ElementsAre("ReplicaEnded", "RetryDecided", "stop worker 1", "stop ps 0", "stop evaluator 0"));
  EXPECT_EQ(
      job.events().back().retry_decided().reason(),
      "The replica worker 0 was stopped for maintenance. Without it the replica master 0 failed, too. All "
      "replicas start again and can continue from their last checkpoint. This does not count as a retry.");
}

TEST(Peers, CrashesUseUpTheRetriesAndTheMessageNamesTheFirst) {
  SimulatedJob job(kGang);
  job.BringUp();
  for (int retry = 0; retry <= kRetriesMax; ++retry) {
    job.End(kWorker, kSignaled, 11);
    job.Settle();
    job.Pass(1s);
    job.End(kMaster, kExited, 1);
    job.Settle();
    for (int replica = 0; replica < 5; ++replica) {
      if (job.IsAlive(replica)) job.End(replica, ExitRecord::STOPPED);
    }
    job.Settle();
    if (retry == kRetriesMax) break;
    for (const auto phase : {replica::v1::READY, replica::v1::RUNNING}) {
      for (int replica = 0; replica < 5; ++replica) job.Reach(replica, phase);
      job.Settle();
    }
  }
  EXPECT_EQ(job.job().retries(), kRetriesMax);
  EXPECT_EQ(job.job().job().state(), Job::FAILED);
  EXPECT_THAT(job.job().job().error_message(),
              testing::StartsWith("First cause: The replica worker 0 exited with a non-zero status of "
                                  "11(SIGSEGV).\nThe replica master 0 exited with a non-zero status of 1."));
}

TEST(Peers, AHeldFailureSurvivesTheServer) {
  SimulatedJob job(kGang);
  job.BringUp();
  job.End(kMaster, kExited, 1);
  EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded"));
  EXPECT_EQ(job.wake_time(), job.now() + kHoldBack);
  job.RestartServer();
  EXPECT_THAT(job.Settle(), IsEmpty()) << "it is still held back";
  job.Pass(2s);
  job.End(kWorker, kSignaled, 9, 3s);
  EXPECT_THAT(job.Settle(), testing::Contains("RetryDecided"));
}

TEST(Peers, NothingIsJudgedWhileAPeerIsNotHeard) {
  SimulatedJob job(kGang);
  job.BringUp();
  job.Detach(kWorker);
  job.End(kMaster, kExited, 1);
  job.Settle();
  job.Pass(1h);
  EXPECT_THAT(job.Settle(), IsEmpty());
  job.Revoke("The node node-2 is lost.");
  EXPECT_THAT(job.Settle(), testing::Contains("Revoked"));
  EXPECT_EQ(job.job().retries(), 0);
}

TEST(Peers, ASuccessIsOneEvenIfAWorkerHasFailed) {
  SimulatedJob job(kGang);
  job.BringUp();
  job.End(kWorker, kExited, 1);
  job.Settle();
  job.Pass(1s);
  job.End(kMaster, kExited, 0);
  EXPECT_THAT(job.Settle(), testing::Contains("Concluded"));
  EXPECT_EQ(job.job().outcome(), Job::SUCCEEDED);
}

TEST(Peers, AJobOfOneReplicaIsJudgedAtOnce) {
  SimulatedJob job("region: 'us-central1'");
  job.BringUp();
  job.End(0, kExited, 1);
  EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "Concluded", "Ended"));
}

TEST(Status, ThatRepeatsIsPermanent) {
  SimulatedJob job("region: 'us-central1'");
  job.BringUp();
  job.End(0, kExited, 7);
  EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "RestartDecided", "Launched", "start master 0"));
  job.Reach(0, replica::v1::READY);
  job.Settle();
  job.End(0, kExited, 7);
  EXPECT_THAT(job.Settle(), ElementsAre("ReplicaEnded", "Concluded", "Ended"));
  EXPECT_THAT(
      job.job().job().error_message(),
      HasSubstr(
          "The replica master 0 exited with the status 7 twice in a row, so it was not restarted again."));
}

TEST(Status, ThatChangesOrIsASignalsIsNot) {
  SimulatedJob job("region: 'us-central1'");
  job.BringUp();
  for (const int status : {7, 8, 7, 6, 6}) {
    job.End(0, kExited, status);
    EXPECT_THAT(job.Settle(), testing::Contains("RestartDecided")) << status;
    job.Pass(kRestartPauseMax);
    job.Settle();
    job.Reach(0, replica::v1::READY);
    job.Settle();
  }
}

}  // namespace
}  // namespace trainyard::jobs
