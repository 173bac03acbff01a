#include "rules/jobs/waiting.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace trainyard::jobs {
namespace {

using control::v1::JobRecord;

JobRecord Parse(const std::string& text) {
  JobRecord job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &job)) << text;
  return job;
}

/// A PREPARING job of a master and three workers, all launched; `more` is merged into it.
JobRecord Gang(const std::string& more = "") {
  std::string text =
      "job { job_id: 'j' state: PREPARING create_time { seconds: 1600000000 } start_time { seconds: "
      "1600000001 } } "
      "runtime_version: '2.15' packages { uri: 'gs://b/o' } "
      "replicas { id { type: MASTER } attempt: 1 } replicas { id { type: WORKER } attempt: 1 } "
      "replicas { id { type: WORKER index: 1 } attempt: 1 } replicas { id { type: WORKER index: 2 } attempt: "
      "1 } ";
  JobRecord job = Parse(text + "revision: 3");
  job.MergeFrom(Parse(more));
  return job;
}

Observation Seen(std::vector<replica::v1::Phase> phases) {
  Observation seen;
  for (const replica::v1::Phase phase : phases) {
    seen.replicas.push_back({.started = phase != replica::v1::PHASE_UNSPECIFIED, .phase = phase});
  }
  return seen;
}

constexpr auto kNew = replica::v1::PHASE_UNSPECIFIED;
constexpr auto kBuilds = replica::v1::PREPARING;
constexpr auto kReady = replica::v1::READY;
constexpr auto kRuns = replica::v1::RUNNING;

TEST(WaitWhilePreparing, SaysWhoBuildsWhatAndWhoWaitsForWhom) {
  struct Row {
    std::vector<replica::v1::Phase> phases;
    const char* cause;
    const char* reason;
  };
  const Row rows[] = {
      {{kNew, kNew, kNew, kNew},
       "launch",
       "Waiting for the supervisor of master-replica-0, worker-replica-0, worker-replica-1 and 1 more to "
       "start."},
      {{kBuilds, kBuilds, kNew, kNew},
       "environment",
       "master-replica-0, worker-replica-0 build their environment (runtime version 2.15, 1 package)."},
      {{kReady, kReady, kBuilds, kReady},
       "barrier",
       "master-replica-0, worker-replica-0, worker-replica-2 are ready and waiting at the barrier: "
       "worker-replica-1 "
       "builds its environment (runtime version 2.15, 1 package)."},
      {{kReady, kNew, kNew, kNew},
       "barrier",
       "master-replica-0 is ready and waiting at the barrier for worker-replica-0, worker-replica-1, "
       "worker-replica-2."},
      {{kReady, kReady, kReady, kReady},
       "start",
       "All replicas are ready; their programs are being started."},
      {{kRuns, kReady, kRuns, kRuns}, "start", "All replicas are ready; their programs are being started."}};
  for (const Row& row : rows) {
    const auto waiting = WaitWhilePreparing(Gang(), Seen(row.phases));
    ASSERT_TRUE(waiting);
    EXPECT_EQ(waiting->cause, row.cause);
    EXPECT_EQ(waiting->reason, row.reason);
    EXPECT_FALSE(waiting->unblock.empty());
    EXPECT_EQ(waiting->position, 0);
  }
}

TEST(WaitWhilePreparing, SaysWhyNoSupervisorCanBeStarted) {
  Observation seen = Seen({kReady, kNew, kNew, kNew});
  seen.replicas[2].refused = "the keeper does not answer: does it run?";
  const auto waiting = WaitWhilePreparing(Gang(), seen);
  ASSERT_TRUE(waiting);
  EXPECT_EQ(
      *waiting,
      (Waiting{.cause = "refused",
               .reason = "The supervisor of worker-replica-0, worker-replica-1, worker-replica-2 cannot be "
                         "started now: the keeper does not answer: does it run?",
               .unblock = "The server retries about once a second."}));
  seen.replicas[2].refused = "disk full";
  EXPECT_TRUE(WaitWhilePreparing(Gang(), seen)->reason.ends_with(" disk full."));
  seen = Seen({kReady, kReady, kReady, kReady});
  seen.replicas[2].refused = "before";
  EXPECT_NE(WaitWhilePreparing(Gang(), seen)->cause, "refused") << "it has started since";
}

TEST(WaitWhilePreparing, SaysUntilWhenAReplicaPausesAndThatOthersWait) {
  JobRecord job = Gang();
  control::v1::ReplicaRecord& worker = *job.mutable_replicas(2);
  worker.set_restarting(true);
  worker.set_restarts(3);
  worker.mutable_exit()->set_exit_code(1);
  worker.mutable_not_before()->set_seconds(1'600'000'060);
  EXPECT_EQ(WaitWhilePreparing(job, Seen({kReady, kReady, kNew, kBuilds}))->reason,
            "worker-replica-1 failed and starts again at 2020-09-13T12:27:40Z (restart 3 of 5).");
  worker.clear_not_before();
  EXPECT_EQ(WaitWhilePreparing(job, Seen({kReady, kReady, kNew, kReady}))->reason,
            "master-replica-0, worker-replica-0, worker-replica-2 are ready and waiting at the barrier for "
            "worker-replica-1.");
}

TEST(WaitWhilePreparing, AReplicaThatHasEndedIsNotWaitedFor) {
  JobRecord job = Gang();
  job.mutable_replicas(1)->mutable_exit()->set_exit_code(0);
  EXPECT_EQ(WaitWhilePreparing(job, Seen({kReady, kNew, kReady, kReady}))->cause, "start");
}

TEST(WaitWhilePreparing, ARetryWaitsForTheEndOfAll) {
  const auto waiting =
      WaitWhilePreparing(Gang("retrying: true retries: 2"), Seen({kReady, kReady, kReady, kReady}));
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->reason,
            "The whole job restarts: its replicas are being stopped first (it has used 2 of 3 retries).");
}

TEST(WaitWhilePreparing, OthersDoNotWait) {
  const Observation seen = Seen({kReady, kReady, kReady, kReady});
  EXPECT_FALSE(WaitWhilePreparing(Gang("job { state: RUNNING }"), seen));
  EXPECT_FALSE(WaitWhilePreparing(Gang("job { state: CANCELLING } outcome: CANCELLED"), seen));
  EXPECT_FALSE(WaitWhilePreparing(Gang("outcome: FAILED"), seen));
  EXPECT_FALSE(WaitWhilePreparing(Gang("job { state: QUEUED }"), seen));
}

constexpr std::chrono::seconds kUsualGrace{30};

TEST(WaitForEnd, NamesWhatStillRuns) {
  JobRecord job = Gang("job { state: RUNNING } outcome: SUCCEEDED");
  Observation seen = Seen({kRuns, kRuns, kRuns, kRuns});
  job.mutable_replicas(0)->mutable_exit();
  job.mutable_replicas(3)->mutable_exit();
  EXPECT_EQ(
      WaitForEnd(job, seen, kUsualGrace),
      (Waiting{
          .cause = "ending",
          .reason = "The job has succeeded. worker-replica-0, worker-replica-1 were told to end (SIGTERM).",
          .unblock = "Processes that still run after 5 s are killed."}));
  EXPECT_EQ(WaitForEnd(job, seen, std::chrono::seconds(2))->unblock,
            "Processes that still run after 2 s are killed.");
  job.mutable_replicas(1)->mutable_exit();
  EXPECT_EQ(WaitForEnd(job, seen, kUsualGrace)->reason,
            "The job has succeeded. worker-replica-1 was told to end (SIGTERM).");
  job.mutable_replicas(2)->mutable_exit();
  EXPECT_FALSE(WaitForEnd(job, seen, kUsualGrace));
  EXPECT_FALSE(WaitForEnd(Gang("job { state: RUNNING }"), seen, kUsualGrace));
}

TEST(WaitForEnd, IsSaidOfJobsThatFailedOrAreCancelled) {
  Observation seen = Seen({kRuns, kRuns, kRuns, kRuns});
  JobRecord job = Gang("job { state: RUNNING } outcome: FAILED");
  for (const int ended : {0, 2, 3}) job.mutable_replicas(ended)->mutable_exit();
  const auto reason = [&] { return WaitForEnd(job, seen, kUsualGrace)->reason; };
  EXPECT_EQ(reason(), "The job has failed. worker-replica-0 was told to end (SIGTERM).");
  job.MergeFrom(Parse("job { error_message: 'By eve.' } outcome: CANCELLED"));
  const std::string why = "The job is being cancelled. By eve. ";
  EXPECT_EQ(reason(), why + "worker-replica-0 was told to end (SIGTERM).");
  seen.replicas[1].kill_sent = true;
  EXPECT_EQ(reason(), why + "worker-replica-0 has not ended in time and will be killed.");
  seen.replicas[1].away = true;
  EXPECT_EQ(reason(), why + "The server does not hear from worker-replica-0.");
}

TEST(WaitLimit, IsSaidWhileItCounts) {
  const char* kScheduling = "job { training_input { scheduling { max_wait_time { seconds: 3600 } } } } ";
  EXPECT_EQ(WaitLimit(Gang()), "");
  EXPECT_EQ(WaitLimit(Gang(kScheduling)),
            "The job is cancelled at 2020-09-13T13:26:40Z if it does not run by then (maxWaitTime).");
  EXPECT_EQ(WaitLimit(Gang(kScheduling + std::string("running_time { seconds: 1600000002 }"))), "");
}

TEST(WaitForTrouble, SaysThatAFailureIsNotJudgedYet) {
  JobRecord job = Gang();
  Observation seen = Seen({kRuns, kRuns, kRuns, kRuns});
  EXPECT_EQ(WaitForTrouble(job, seen), std::nullopt);
  job.mutable_replicas(0)->mutable_exit()->set_cause(replica::v1::ExitRecord::EXITED);
  job.mutable_replicas(0)->mutable_exit()->set_exit_code(1);
  job.mutable_replicas(0)->mutable_ended_time()->set_seconds(1'600'000'100);
  const std::string reason =
      "A replica has failed. Whether it failed by itself or because it lost another replica is not known yet";
  EXPECT_EQ(WaitForTrouble(job, seen),
            (Waiting{.cause = "judgement",
                     .reason = reason + ".",
                     .unblock = "It continues at 2020-09-13T12:28:25Z at the latest."}));
  seen.replicas[1].away = true;
  EXPECT_EQ(WaitForTrouble(job, seen)->reason, reason + ": the server does not hear from all of the others.");
}

TEST(WaitForImages, NamesTheImageTheReasonAndWhatHelps) {
  JobRecord job = Parse(
      "revision: 1 job { job_id: 'j' state: QUEUED } images { image: 'a:1' digest: 'sha256:0' } "
      "images { image: 'r:5/b:1' unresolved: 'r:5 does not answer in time' }");
  const std::string unblock =
      "The server asks its registry again within 60 seconds, after the other jobs that wait for it, and the "
      "job continues when it answers. Start the registry, or load the image from an archive (run: trainyard "
      "images load "
      "FILE).";
  EXPECT_EQ(WaitForImages(job, {}), (Waiting{.cause = "image",
                                             .position = 0,
                                             .reason = "The image r:5/b:1 is not resolved yet: r:5 does not "
                                                       "answer in time.",
                                             .unblock = unblock}));
  EXPECT_EQ(WaitForImages(job, {.reason = "nothing runs containers", .no_engine = true})->unblock,
            "The server looks for it again within 60 seconds, and the job continues when it exists.");
  EXPECT_EQ(WaitForImages(job, {.reason = "r:5 does not answer: connection refused"})->reason,
            "The image r:5/b:1 is not resolved yet: r:5 does not answer: connection refused.");
  job.mutable_images(1)->set_digest("sha256:1");
  EXPECT_EQ(WaitForImages(job, {}), std::nullopt);
}

}  // namespace
}  // namespace trainyard::jobs
