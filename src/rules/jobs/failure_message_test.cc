#include "rules/jobs/failure_message.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace trainyard::jobs {
namespace {

struct Row {
  const char* name;
  const char* record;
  const char* message;
};
class Failures : public testing::TestWithParam<Row> {};

TEST_P(Failures, AreWordedAsTheOriginalDid) {
  control::v1::JobRecord record;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(GetParam().record, &record));
  EXPECT_EQ(FailureMessage(record), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Samples, Failures,
    testing::Values(
        Row{"traceback",
            "job { job_id: 'j' } replicas { id { type: MASTER } attempt: 1 exit { cause: EXITED exit_code: 1 "
            "traceback: "
            "'Traceback (most recent call last):\\n  [...]\\nValueError: no' } }",
            "The replica master 0 exited with a non-zero status of 1. \nTraceback (most recent call last):\n "
            " [...]\nValueError: "
            "no\n\nTo find out more about why your job exited please check the logs: trainyard jobs "
            "stream-logs j"},
        Row{"diagnosis",
            "job { job_id: 'j' } replicas { id { type: WORKER } exit { cause: EXITED exit_code: 1 traceback: "
            "'T' "
            "diagnosis { name: 'n' summary: 'S.' advice: 'A.' } } } replicas { id { type: WORKER index: 1 } "
            "exit { "
            "cause: EXITED exit_code: 1 diagnosis { name: 'n' summary: 'S.' advice: 'A.' } } } replicas { id "
            "{ type: "
            "WORKER index: 2 } exit { cause: EXITED exit_code: 1 diagnosis { name: 'm' summary: 'Q.' advice: "
            "'B.' } } }",
            "The replica worker 0 exited with a non-zero status of 1. \nT\n\nDiagnosis: n. S.\nWhat to do: "
            "A.\nIts "
            "last lines: trainyard jobs stream-logs j --task-name worker-replica-0 --last 50\n\nThe replica "
            "worker 1 "
            "exited with a non-zero status of 1. The replica worker 2 exited with a non-zero status of 1. "
            "\nDiagnosis: "
            "m. Q.\nWhat to do: B.\nIts last lines: trainyard jobs stream-logs j --task-name "
            "worker-replica-2 --last "
            "50\n\nTo find out more about why your job exited please check the logs: trainyard jobs "
            "stream-logs j"},
        Row{"plain",
            "job { job_id: 'j' } replicas { id { type: MASTER } exit { cause: EXITED exit_code: 2 } }",
            "The replica master 0 exited with a non-zero status of 2. To find out more about why your job "
            "exited please check the "
            "logs: trainyard jobs stream-logs j"},
        Row{"several",
            "job { job_id: 'j' } replicas { id { type: MASTER } exit { cause: EXITED exit_code: 0 } } "
            "replicas { id { type: "
            "PARAMETER_SERVER } exit { cause: EXITED exit_code: 1 } } replicas { id { type: PARAMETER_SERVER "
            "index: 1 } exit { cause: "
            "EXITED exit_code: 1 } } replicas { id { type: WORKER } }",
            "The replica ps 0 exited with a non-zero status of 1. The replica ps 1 exited with a non-zero "
            "status of 1. To find out "
            "more about why your job exited please check the logs: trainyard jobs stream-logs j"},
        Row{"out_of_memory",
            "job { job_id: 'j' } replicas { id { type: MASTER } exit { cause: OUT_OF_MEMORY } }",
            "The replica master 0 ran out-of-memory and exited with a non-zero status of 9(SIGKILL) To find "
            "out more about why your "
            "job exited please check the logs: trainyard jobs stream-logs j"},
        Row{"pip",
            "job { job_id: 'j' } replicas { id { type: MASTER } exit { cause: PREPARATION_FAILED message: "
            "'pip: No matching "
            "distribution found for nosuchpkg' } }",
            "The replica master 0 exited with a non-zero status of 1. \npip: No matching distribution found "
            "for nosuchpkg\n\nTo find "
            "out more about why your job exited please check the logs: trainyard jobs stream-logs j"},
        Row{"lost",
            "job { job_id: 'j' } retries: 3 replicas { id { type: WORKER index: 2 } restarts: 5 exit { "
            "cause: LOST } }",
            "Internal error occurred for the current attempt: the replica worker 2 was lost. The replica was "
            "restarted 5 times, the "
            "whole job was retried 3 times.\n\nTo find out more about why your job exited please check the "
            "logs: trainyard jobs "
            "stream-logs j"},
        Row{"stopped_by_nobody_here",
            "job { job_id: 'j' } replicas { id { type: MASTER } exit { cause: STOPPED exit_code: 143 } }",
            "The replica master 0 exited with a non-zero status of 143. To find out more about why your job "
            "exited please check the "
            "logs: trainyard jobs stream-logs j"},
        Row{"signal",
            "job { job_id: 'j' } replicas { id { type: MASTER } exit { cause: SIGNALED signal: 11 } }",
            "The replica master 0 exited with a non-zero status of 11(SIGSEGV). To find out more about why "
            "your job exited please "
            "check the logs: trainyard jobs stream-logs j"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(FailureMessage, StaysReadableWhenAThousandReplicasFail) {
  control::v1::JobRecord record;
  for (int i = 0; i < 1000; ++i) {
    control::v1::ReplicaRecord& replica = *record.add_replicas();
    replica.mutable_id()->set_type(replica::v1::WORKER);
    replica.mutable_id()->set_index(i);
    replica.mutable_exit()->set_cause(replica::v1::ExitRecord::EXITED);
    replica.mutable_exit()->set_exit_code(1);
    replica.mutable_exit()->set_traceback(std::string(2048, 'x'));
  }
  const std::string message = FailureMessage(record);
  EXPECT_LT(message.size(), 20'000U);
  EXPECT_NE(message.find("So did 992 more replicas."), std::string::npos);
}

}  // namespace
}  // namespace trainyard::jobs
