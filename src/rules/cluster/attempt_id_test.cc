#include "rules/cluster/task_name.h"

#include <gtest/gtest.h>

namespace trainyard::cluster {
namespace {

TEST(AttemptId, IsReadBack) {
  replica::v1::ReplicaId worker;
  worker.set_type(replica::v1::WORKER);
  worker.set_index(3);
  EXPECT_EQ(AttemptId(12, worker, 2), "12-worker-replica-3-2");
  const AttemptName name{.job_uid = 12, .task_name = "worker-replica-3", .attempt = 2};
  EXPECT_EQ(ParseAttemptId(AttemptId(12, worker, 2)), name);
}

class NoAttemptId : public testing::TestWithParam<const char*> {};
TEST_P(NoAttemptId, IsRefused) { EXPECT_FALSE(ParseAttemptId(GetParam())); }
INSTANTIATE_TEST_SUITE_P(Texts, NoAttemptId,
                         testing::Values("", "-", "--", "1-2", "1--2", "x-master-replica-0-1",
                                         "1-master-replica-0-", "1-master-replica-0-x",
                                         "-1-master-replica-0-1", "0-master-replica-0-1",
                                         "1-master-replica-0-0", "1-master-replica-0-99999999999",
                                         "99999999999999999999-m-1", "lost+found", ".", ".."));

}  // namespace
}  // namespace trainyard::cluster
