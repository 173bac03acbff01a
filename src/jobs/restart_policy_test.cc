#include "jobs/restart_policy.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>

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
  EXPECT_EQ(DecideOnExits(Job(0))->restart_decided().reason(),
            std::string(GetParam().reason) + " The replica is restarted (1 of 5).");
}

TEST_P(Reason, OfARetry) {
  EXPECT_EQ(DecideOnExits(Job(kRestartsMax))->retry_decided().reason(),
            std::string(GetParam().reason) +
                " The replica was restarted 5 times; now the whole job is retried (1 of 3).");
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
                    Row{"last_words", "cause: LOST message: 'It was killed. Its last words: no memory\\n'",
                        "Internal error occurred for the current attempt: the replica worker 0 was lost. "
                        "Reason: It was killed. "
                        "Its last words: no memory."},
                    Row{"lost_without_words", "cause: LOST",
                        "Internal error occurred for the current attempt: the replica worker 0 was lost."},
                    Row{"stopped", "cause: STOPPED message: 'the system asked the supervisor to end'",
                        "The replica worker 0 exited with a non-zero status of 15(SIGTERM). "
                        "Reason: the system asked the supervisor to end."}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::jobs
