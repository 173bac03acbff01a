#include "rules/vertex/task_names.h"

#include <gtest/gtest.h>

namespace trainyard::vertex::task_names_test {
namespace {

struct Row {
  const char* name;
  const char* task;
  const char* pool_task;
};

class TaskNames : public ::testing::TestWithParam<Row> {};

TEST_P(TaskNames, FollowThePositionOfThePool) {
  EXPECT_EQ(PoolTaskName(GetParam().task), GetParam().pool_task);
  EXPECT_EQ(TaskNameOf(GetParam().pool_task), GetParam().task);
}

INSTANTIATE_TEST_SUITE_P(Rules, TaskNames,
                         ::testing::Values(Row{"master", "master-replica-0", "workerpool0-0"},
                                           Row{"worker", "worker-replica-12", "workerpool1-12"},
                                           Row{"server", "ps-replica-3", "workerpool2-3"},
                                           Row{"evaluator", "evaluator-replica-0", "workerpool3-0"},
                                           Row{"service", "service", "service"}, Row{"empty", "", ""},
                                           Row{"no_number", "worker-replica-", "worker-replica-"},
                                           Row{"more", "worker-replica-1x", "worker-replica-1x"}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(TaskNames, HaveAPoolForEveryType) {
  EXPECT_EQ(PoolOf(replica::v1::MASTER), 0);
  EXPECT_EQ(PoolOf(replica::v1::WORKER), 1);
  EXPECT_EQ(PoolOf(replica::v1::PARAMETER_SERVER), 2);
  EXPECT_EQ(PoolOf(replica::v1::EVALUATOR), 3);
  EXPECT_EQ(TaskNameOf("workerpool4-0"), "workerpool4-0");
}

}  // namespace
}  // namespace trainyard::vertex::task_names_test
