#include "rules/jobs/restart_policy.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/wire/time.h"

namespace trainyard::jobs {
namespace {

struct Row {
  const char* name;
  const char* exit;
  const char* reason;
};
class Reason : public testing::TestWithParam<Row> {
 protected:
  static control::v1::JobRecord Job(int restarts) {
    control::v1::JobRecord record;
    const std::string text = "job { job_id: 'j' } replicas { id { type: WORKER } attempt: 1 restarts: " +
                             std::to_string(restarts) + " exit { " + GetParam().exit + " } }";
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &record));
    return record;
  }
};

TEST_P(Reason, OfARestart) {
  EXPECT_EQ(DecideOnExits(Job(0), {})->restart_decided().reason(),
            std::string(GetParam().reason) + " The replica is restarted (1 of 5).");
}

TEST_P(Reason, OfARetry) {
  EXPECT_EQ(DecideOnExits(Job(kRestartsMax), {})->retry_decided().reason(),
            std::string(GetParam().reason) +
                " The replica was restarted 5 times; now the whole job is retried (1 of 3).");
}

TEST_P(Reason, OfARestartThatWaits) {
  const auto event = DecideOnExits(Job(3), {.now = SysTime(std::chrono::seconds{100})});
  EXPECT_EQ(event->restart_decided().reason(),
            std::string(GetParam().reason) + " The replica is restarted in 4 s (4 of 5).");
  EXPECT_EQ(event->restart_decided().not_before().seconds(), 104);
}

INSTANTIATE_TEST_SUITE_P(
    Ends, Reason,
    testing::Values(Row{"status", "cause: EXITED exit_code: 3 message: 'not shown'",
                        "The replica worker 0 exited with a non-zero status of 3."},
                    Row{"signal", "cause: SIGNALED signal: 9",
                        "The replica worker 0 exited with a non-zero status of 9(SIGKILL)."},
                    Row{"lost", "cause: LOST message: 'the supervisor ended without a record'",
                        "Internal error occurred for the current attempt: the replica worker 0 was lost. "
                        "Reason: the supervisor ended without a record."},
                    Row{"last_words", "cause: LOST message: 'It was killed. Its last output: no memory\\n'",
                        "Internal error occurred for the current attempt: the replica worker 0 was lost. "
                        "Reason: It was killed. Its last output: no memory."},
                    Row{"lost_without_words", "cause: LOST",
                        "Internal error occurred for the current attempt: the replica worker 0 was lost."},
                    Row{"stopped", "cause: STOPPED message: 'the system asked the supervisor to end'",
                        "The replica worker 0 exited with a non-zero status of 15(SIGTERM). "
                        "Reason: the system asked the supervisor to end."}),
    [](const auto& row) { return row.param.name; });

TEST(RestartPause, GrowsUpToItsLimit) {
  using std::chrono::milliseconds;
  std::vector<long> pauses;
  for (int restarts = 0; restarts < 9; ++restarts)
    pauses.push_back(RestartPause(restarts, kRestartPause).count());
  EXPECT_EQ(pauses, (std::vector<long>{0, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000}));
  EXPECT_EQ(RestartPause(1'000'000, kRestartPause), kRestartPauseMax);
  EXPECT_EQ(RestartPause(1'000'000, milliseconds{0}), milliseconds{0});
  EXPECT_EQ(RestartPause(1, milliseconds{100'000}), kRestartPauseMax);
}

TEST(PauseEnd, APauseThatWasDecidedByAClockThatWasAheadIsOver) {
  const SysTime now{std::chrono::hours{400'000}};
  control::v1::ReplicaRecord replica;
  EXPECT_EQ(PauseEnd(replica, now), std::nullopt);
  *replica.mutable_not_before() = wire::ToProto(now + kRestartPauseMax);
  EXPECT_EQ(PauseEnd(replica, now), now + kRestartPauseMax);
  *replica.mutable_not_before() = wire::ToProto(now + std::chrono::hours{1} + kShortagePause);
  EXPECT_EQ(PauseEnd(replica, now), std::nullopt);
}

TEST(DecideOnExits, SaysWhyAndHowLong) {
  control::v1::JobRecord job;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "job { job_id: 'j' } replicas { id { type: WORKER } attempt: 2 restarts: 1 exit { cause: SIGNALED "
      "signal: 9 "
      "diagnosis { name: 'killed' summary: 'It was killed.' } } }",
      &job));
  EXPECT_EQ(DecideOnExits(job, {.first_pause = std::chrono::milliseconds{1500}})->restart_decided().reason(),
            "The replica worker 0 exited with a non-zero status of 9(SIGKILL). The replica is restarted in "
            "1.5 s (2 of 5). "
            "Why: It was killed.");
}

TEST(DecideOnExits, TheMachinesShutdownIsNoFailure) {
  control::v1::JobRecord job;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "job { job_id: 'j' } replicas { id { type: WORKER } attempt: 2 restarts: 5 exit { cause: SHUT_DOWN "
      "signal: "
      "15 message: 'the system asked the supervisor to end' } }",
      &job));
  EXPECT_FALSE(CountsAsRestart(job.replicas(0)));
  const auto again = DecideOnExits(job, {});
  EXPECT_EQ(again->restart_decided().reason(),
            "The replica worker 0 was stopped by its machine (shutdown, service stop or logout) and starts "
            "again. This does not count as a restart.");
  EXPECT_FALSE(again->restart_decided().has_not_before());
  job.mutable_replicas(0)->mutable_exit()->set_cause(replica::v1::ExitRecord::STOPPED);
  EXPECT_TRUE(CountsAsRestart(job.replicas(0)));
  EXPECT_TRUE(DecideOnExits(job, {})->has_retry_decided());
}

TEST(DecideOnExits, MaintenanceIsNoFailureAndAPermanentEndOne) {
  control::v1::JobRecord job;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "job { job_id: 'j' } replicas { id { type: WORKER } attempt: 2 restarts: 5 maintenance: true "
      "exit { cause: STOPPED signal: 15 } }",
      &job));
  const auto moved = DecideOnExits(job, {});
  EXPECT_EQ(
      moved->restart_decided().reason(),
      "The replica worker 0 has stopped for maintenance and starts again. This does not count as a restart.");
  EXPECT_FALSE(moved->restart_decided().has_not_before());
  job.mutable_replicas(0)->mutable_exit()->set_cause(replica::v1::ExitRecord::EXITED);
  job.mutable_replicas(0)->mutable_exit()->set_exit_code(1);
  EXPECT_TRUE(DecideOnExits(job, {})->has_concluded()) << "it failed before it was told to stop";
}

}  // namespace
}  // namespace trainyard::jobs
