#include "rules/cluster/task_name.h"

#include <gtest/gtest.h>

namespace trainyard::cluster {
namespace {

struct Row {
  const char* name;
  replica::v1::TaskType type;
  int index;
  bool use_chief;
  const char* task_name;
  const char* label;
  const char* key;
  const char* host;
};

class Names : public testing::TestWithParam<Row> {};

TEST_P(Names, AreTheDocumentedOnes) {
  const Row& row = GetParam();
  ReplicaId id;
  id.set_type(row.type);
  id.set_index(row.index);
  EXPECT_EQ(TaskName(id), row.task_name);
  EXPECT_EQ(ReplicaLabel(id), row.label);
  EXPECT_EQ(TaskType(row.type, row.use_chief), row.key);
  EXPECT_EQ(HostName(id, "e118e0f997", row.use_chief), row.host);
}

INSTANTIATE_TEST_SUITE_P(Rules, Names,
                         testing::Values(Row{"master", replica::v1::MASTER, 0, false, "master-replica-0",
                                             "master 0", "master", "cmle-training-master-e118e0f997-0"},
                                         Row{"chief", replica::v1::MASTER, 0, true, "master-replica-0",
                                             "master 0", "chief", "cmle-training-chief-e118e0f997-0"},
                                         Row{"worker", replica::v1::WORKER, 12, true, "worker-replica-12",
                                             "worker 12", "worker", "cmle-training-worker-e118e0f997-12"},
                                         Row{"ps", replica::v1::PARAMETER_SERVER, 3, false, "ps-replica-3",
                                             "ps 3", "ps", "cmle-training-ps-e118e0f997-3"},
                                         Row{"evaluator", replica::v1::EVALUATOR, 0, true,
                                             "evaluator-replica-0", "evaluator 0", "evaluator",
                                             "cmle-training-evaluator-e118e0f997-0"}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(PoolNames, FollowTheRoles) {
  ReplicaId id;
  id.set_index(2);
  for (const auto& [type, pool] :
       {std::pair{replica::v1::MASTER, "workerpool0"}, std::pair{replica::v1::WORKER, "workerpool1"},
        std::pair{replica::v1::PARAMETER_SERVER, "workerpool2"},
        std::pair{replica::v1::EVALUATOR, "workerpool3"}}) {
    id.set_type(type);
    EXPECT_EQ(PoolName(type), pool);
    EXPECT_EQ(PoolHostName(id, "e118e0f997"), "cmle-training-" + std::string(pool) + "-e118e0f997-2");
  }
}

}  // namespace
}  // namespace trainyard::cluster
