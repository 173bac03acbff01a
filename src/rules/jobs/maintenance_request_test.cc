#include "rules/jobs/restart_policy.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace trainyard::jobs {
namespace {

struct Row {
  const char* name;
  const char* state;
  const char* task;
  const char* message;  ///< empty: there is an event
};
class Moves : public testing::TestWithParam<Row> {};

TEST_P(Moves, OnlyWhatRuns) {
  control::v1::JobRecord job;
  const std::string text =
      std::string("revision: 5 job { job_id: 'j' state: ") + GetParam().state +
      " } replicas { id { type: MASTER } attempt: 3 } replicas { id { type: WORKER } attempt: 1 "
      "maintenance: true } replicas { id { type: WORKER index: 1 } attempt: 1 exit { cause: EXITED } }";
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &job));
  const Result<control::v1::Event> event = MaintenanceOf(job, GetParam().task);
  if (*GetParam().message == '\0') {
    ASSERT_TRUE(event) << event.error().message;
    EXPECT_EQ(event->maintenance_requested().attempt(), 3);
  } else {
    ASSERT_FALSE(event);
    EXPECT_EQ(event.error().message, GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Moves,
    testing::Values(Row{"master", "RUNNING", "master-replica-0", ""},
                    Row{"unknown", "RUNNING", "ps-replica-0",
                        "The job j has no replica 'ps-replica-0'. It has master-replica-0, worker-replica-0, "
                        "worker-replica-1."},
                    Row{"twice", "RUNNING", "worker-replica-0",
                        "The replica worker-replica-0 of job j does not run: it is being moved already."},
                    Row{"ended", "RUNNING", "worker-replica-1",
                        "The replica worker-replica-1 of job j does not run: the job is RUNNING."},
                    Row{"queued", "QUEUED", "master-replica-0",
                        "The replica master-replica-0 of job j does not run: the job is QUEUED."}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::jobs
