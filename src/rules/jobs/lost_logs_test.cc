#include "rules/jobs/service_lines.h"

#include <gmock/gmock.h>

namespace trainyard::jobs {
namespace {

control::v1::ReplicaRecord Worker(int index, bool log_lost) {
  control::v1::ReplicaRecord replica;
  replica.mutable_id()->set_type(replica::v1::WORKER);
  replica.mutable_id()->set_index(index);
  replica.set_attempt(2);
  replica.mutable_exit()->set_cause(replica::v1::ExitRecord::LOST);
  replica.mutable_exit()->set_message("its node is lost");
  replica.mutable_exit()->set_log_lost(log_lost);
  return replica;
}

TEST(LostLogs, AreNamedAndTheMessageIsKept) {
  control::v1::JobRecord record;
  NoteLostLog(record, Worker(0, true));
  NoteLostLog(record, Worker(1, false));
  EXPECT_EQ(WithLostLogs(record, "It was cancelled."),
            "It was cancelled.\n\nThe log of the job is not complete. The replica worker 0, attempt 2: its "
            "node is lost.");
  EXPECT_EQ(WithLostLogs(record, ""),
            "The log of the job is not complete. The replica worker 0, attempt 2: its node is lost.");
}

TEST(LostLogs, OfAnEndThatIsKnownTheLogSaysMore) {
  control::v1::JobRecord record;
  control::v1::ReplicaRecord worker = Worker(0, true);
  worker.mutable_exit()->set_cause(replica::v1::ExitRecord::EXITED);
  NoteLostLog(record, worker);
  EXPECT_EQ(WithLostLogs(record, ""),
            "The log of the job is not complete. The replica worker 0, attempt 2: its last lines are lost.");
}

TEST(LostLogs, ACompleteLogNeedsNoWord) { EXPECT_EQ(WithLostLogs({}, ""), ""); }

TEST(LostLogs, AreBounded) {
  control::v1::JobRecord record;
  for (int i = 0; i < 3 * kLostLogsNamedMax; ++i) NoteLostLog(record, Worker(i, true));
  EXPECT_EQ(record.lost_logs_size(), kLostLogsNamedMax + 1);
  EXPECT_THAT(record.lost_logs().rbegin()->c_str(), testing::HasSubstr("More attempts"));
}

}  // namespace
}  // namespace trainyard::jobs
