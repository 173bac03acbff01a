#include "rules/cluster/tf_config.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "rules/cluster/task_name.h"

namespace trainyard::cluster {
namespace {

using replica::v1::Cluster;
using replica::v1::Manifest;
using Variables = std::map<std::string, std::string>;

constexpr char kJob[] = R"({"scale_tier": "CUSTOM", "worker_count": "2"})";

void Add(Cluster& cluster, replica::v1::TaskType type, int index, int port, bool use_chief) {
  auto& endpoint = *cluster.add_endpoints();
  endpoint.mutable_replica()->set_type(type);
  endpoint.mutable_replica()->set_index(index);
  endpoint.set_host_name(HostName(endpoint.replica(), "e118e0f997", use_chief));
  endpoint.set_address("127.8.0." + std::to_string(cluster.endpoints_size()));
  endpoint.set_port(port);
}

/// The public example: one master, two workers, one parameter server; plus an evaluator, which must not show.
Cluster Gang(bool use_chief, bool names = true) {
  Cluster cluster;
  Add(cluster, replica::v1::MASTER, 0, 2222, use_chief);
  Add(cluster, replica::v1::WORKER, 0, 20001, use_chief);
  Add(cluster, replica::v1::WORKER, 1, 20002, use_chief);
  Add(cluster, replica::v1::PARAMETER_SERVER, 0, 20003, use_chief);
  Add(cluster, replica::v1::EVALUATOR, 0, 20004, use_chief);
  if (!names) {
    for (auto& endpoint : *cluster.mutable_endpoints()) endpoint.clear_host_name();
  }
  return cluster;
}

Manifest For(replica::v1::TaskType type, int index, bool use_chief) {
  Manifest manifest;
  manifest.set_project("my-project");
  manifest.set_job_id("census_1");
  manifest.set_region("us-central1");
  manifest.mutable_replica()->set_type(type);
  manifest.mutable_replica()->set_index(index);
  manifest.mutable_program()->set_python_module("trainer.task");
  manifest.set_job_json(kJob);
  manifest.set_use_chief(use_chief);
  return manifest;
}

TEST(ReplicaVariables, OfAWorkerInADistributedPackageJob) {
  EXPECT_EQ(
      ReplicaVariables(For(replica::v1::WORKER, 1, true), Gang(true), 4),
      (Variables{
          {"TF_CONFIG",
           R"({"cluster": {"chief": ["cmle-training-chief-e118e0f997-0:2222"], "ps": ["cmle-training-ps-e118e0f997-0:20003"], )"
           R"("worker": ["cmle-training-worker-e118e0f997-0:20001", "cmle-training-worker-e118e0f997-1:20002"]}, )"
           R"("task": {"type": "worker", "index": 1, "cloud": "my-project"}, )"
           R"("job": {"scale_tier": "CUSTOM", "worker_count": "2"}, "environment": "cloud"})"},
          {"CLUSTER_SPEC",
           R"({"cluster": {"master": ["cmle-training-chief-e118e0f997-0:2222"], "ps": ["cmle-training-ps-e118e0f997-0:20003"], )"
           R"("worker": ["cmle-training-worker-e118e0f997-0:20001", "cmle-training-worker-e118e0f997-1:20002"]}, )"
           R"("task": {"type": "worker", "index": 1, "cloud": "my-project"}, )"
           R"("job": {"scale_tier": "CUSTOM", "worker_count": "2"}, "environment": "cloud"})"},
          {"MASTER_ADDR", "cmle-training-chief-e118e0f997-0"},
          {"MASTER_PORT", "2222"},
          {"WORLD_SIZE", "3"},
          {"RANK", "2"},
          {"CLOUD_ML_JOB_ID", "census_1"},
          {"CLOUD_ML_PROJECT_ID", "my-project"},
          {"CLOUD_ML_REGION", "us-central1"},
          {"KMP_BLOCKTIME", "0"},
          {"KMP_AFFINITY", "granularity=fine,verbose,compact,1,0"},
          {"KMP_SETTINGS", "1"},
          {"OMP_NUM_THREADS", "4"},
      }));
}

struct Row {
  const char* name;
  replica::v1::TaskType type;
  int index;
  const char* task;  ///< as it is in TF_CONFIG
  const char* rank;  ///< null: not set
};
class Roles : public testing::TestWithParam<Row> {};

TEST_P(Roles, KnowTheirPlace) {
  const Row& row = GetParam();
  auto variables = ReplicaVariables(For(row.type, row.index, false), Gang(false), 2);
  EXPECT_NE(variables["TF_CONFIG"].find(std::string("\"task\": ") + row.task), std::string::npos)
      << variables["TF_CONFIG"];
  EXPECT_EQ(variables["TF_CONFIG"].find("evaluator-e118"), std::string::npos)
      << "evaluators are never in the cluster";
  EXPECT_EQ(variables["TF_CONFIG"], variables["CLUSTER_SPEC"]) << "without a chief the two are the same";
  EXPECT_EQ(variables.contains("RANK"), row.rank != nullptr);
  if (row.rank != nullptr) EXPECT_EQ(variables["RANK"], row.rank);
  EXPECT_EQ(variables["WORLD_SIZE"], "3");
}

INSTANTIATE_TEST_SUITE_P(Rules, Roles,
                         testing::Values(Row{"master", replica::v1::MASTER, 0,
                                             R"({"type": "master", "index": 0, "cloud": "my-project"})", "0"},
                                         Row{"worker", replica::v1::WORKER, 0,
                                             R"({"type": "worker", "index": 0, "cloud": "my-project"})", "1"},
                                         Row{"ps", replica::v1::PARAMETER_SERVER, 0,
                                             R"({"type": "ps", "index": 0, "cloud": "my-project"})", nullptr},
                                         Row{"evaluator", replica::v1::EVALUATOR, 0,
                                             R"({"type": "evaluator", "index": 0, "cloud": "my-project"})",
                                             nullptr}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(ReplicaVariables, OfASingleReplicaNameTheLoopback) {
  Cluster cluster;
  Add(cluster, replica::v1::MASTER, 0, 2222, false);
  Manifest manifest = For(replica::v1::MASTER, 0, false);
  manifest.mutable_program()
      ->clear_python_module();  // a custom container: no runner, so no variables of the runner
  manifest.clear_job_json();
  EXPECT_EQ(ReplicaVariables(manifest, cluster, 1),
            (Variables{
                {"TF_CONFIG",
                 R"({"cluster": {"master": ["127.0.0.1:2222"]}, "task": {"type": "master", "index": 0}, )"
                 R"("job": "{}", "environment": "cloud"})"},
                {"CLUSTER_SPEC",
                 R"({"cluster": {"master": ["127.0.0.1:2222"]}, "task": {"type": "master", "index": 0}, )"
                 R"("job": "{}", "environment": "cloud"})"},
                {"MASTER_ADDR", "127.0.0.1"},
                {"MASTER_PORT", "2222"},
                {"WORLD_SIZE", "1"},
                {"RANK", "0"},
                {"CLOUD_ML_JOB_ID", "census_1"},
                {"CLOUD_ML_PROJECT_ID", "my-project"},
                {"CLOUD_ML_REGION", "us-central1"},
            }));
}

TEST(ReplicaVariables, OfAContainerHaveTheJobAsText) {
  Manifest manifest = For(replica::v1::WORKER, 0, true);
  manifest.mutable_program()->clear_python_module();
  auto variables = ReplicaVariables(manifest, Gang(true), 1);
  const std::string text = R"("job": "{\"scale_tier\": \"CUSTOM\", \"worker_count\": \"2\"}", "environment")";
  EXPECT_NE(variables["TF_CONFIG"].find(text), std::string::npos) << variables["TF_CONFIG"];
  EXPECT_NE(variables["CLUSTER_SPEC"].find(text), std::string::npos) << variables["CLUSTER_SPEC"];
}

TEST(ReplicaVariables, OfATrialCarryItsIdAsText) {
  Manifest manifest = For(replica::v1::WORKER, 0, false);
  manifest.set_trial_id("7");
  manifest.set_metric_tag("top 5/accuracy");
  auto variables = ReplicaVariables(manifest, Gang(false), 1);
  EXPECT_EQ(variables["CLOUD_ML_TRIAL_ID"], "7");
  EXPECT_EQ(variables["CLOUD_ML_HP_METRIC_TAG"], "top 5/accuracy");
  EXPECT_EQ(variables["CLOUD_ML_HP_METRIC_FILE"], "/tmp/hypertune/output.metrics");
  EXPECT_NE(variables["TF_CONFIG"].find(R"("index": 0, "trial": "7", "cloud")"), std::string::npos);
}

TEST(ReplicaVariables, FallBackToAddressesWhereNamesDoNotResolve) {
  auto variables = ReplicaVariables(For(replica::v1::WORKER, 0, false), Gang(false, false), 1);
  EXPECT_EQ(variables["MASTER_ADDR"], "127.8.0.1");
  EXPECT_NE(variables["TF_CONFIG"].find(R"("worker": ["127.8.0.2:20001", "127.8.0.3:20002"])"),
            std::string::npos);
}

TEST(ReplicaVariables, QuoteWhatJsonWouldNotTake) {
  Manifest manifest = For(replica::v1::MASTER, 0, false);
  manifest.set_project("a\"b\\c\n");
  EXPECT_NE(ReplicaVariables(manifest, Gang(false), 1)["TF_CONFIG"].find(R"("cloud": "a\"b\\c\u000a")"),
            std::string::npos);
}

/// The replica's manifest with the variables of Vertex AI, in a job of that API.
Manifest VertexFor(replica::v1::TaskType type, int index) {
  Manifest manifest = For(type, index, true);
  manifest.set_job_id("vertex_1234567890123456789");
  manifest.set_host_name(PoolHostName(manifest.replica(), "e118e0f997"));
  manifest.set_vertex_variables(true);
  return manifest;
}

Cluster VertexGang() {
  Cluster cluster = Gang(true);
  for (auto& endpoint : *cluster.mutable_endpoints())
    endpoint.set_host_name(PoolHostName(endpoint.replica(), "e118e0f997"));
  return cluster;
}

constexpr char kPools[] =
    R"("workerpool0": ["cmle-training-workerpool0-e118e0f997-0:2222"], )"
    R"("workerpool1": ["cmle-training-workerpool1-e118e0f997-0:20001", "cmle-training-workerpool1-e118e0f997-1:20002"], )"
    R"("workerpool2": ["cmle-training-workerpool2-e118e0f997-0:20003"], )"
    R"("workerpool3": ["cmle-training-workerpool3-e118e0f997-0:20004"])";
constexpr char kGang[] =
    R"("chief": ["cmle-training-workerpool0-e118e0f997-0:2222"], "ps": ["cmle-training-workerpool2-e118e0f997-0:20003"], )"
    R"("worker": ["cmle-training-workerpool1-e118e0f997-0:20001", "cmle-training-workerpool1-e118e0f997-1:20002"])";

struct VertexRow {
  const char* name;
  replica::v1::TaskType type;
  int index;
  const char* pool_task;  ///< as it is in CLUSTER_SPEC
  const char* task;       ///< as it is in TF_CONFIG
  const char* rank;       ///< null: not set
};
class VertexRoles : public testing::TestWithParam<VertexRow> {};

TEST_P(VertexRoles, KnowTheirPlace) {
  const VertexRow& row = GetParam();
  const std::string job = R"("job": {"scale_tier": "CUSTOM", "worker_count": "2"})";
  auto variables = ReplicaVariables(VertexFor(row.type, row.index), VertexGang(), 2);
  EXPECT_EQ(variables["CLUSTER_SPEC"], std::string(R"({"cluster": {)") + kPools +
                                           R"(}, "environment": "cloud", "task": )" + row.pool_task + ", " +
                                           job + "}");
  EXPECT_EQ(variables["TF_CONFIG"], std::string(R"({"cluster": {)") + kGang + R"(}, "task": )" + row.task +
                                        ", " + job + R"(, "environment": "cloud"})");
  EXPECT_EQ(variables["MASTER_ADDR"], "cmle-training-workerpool0-e118e0f997-0");
  EXPECT_EQ(variables["MASTER_PORT"], "2222");
  EXPECT_EQ(variables["WORLD_SIZE"], "3");
  EXPECT_EQ(variables.contains("RANK"), row.rank != nullptr);
  if (row.rank != nullptr) EXPECT_EQ(variables["RANK"], row.rank);
  EXPECT_EQ(variables["CLOUD_ML_JOB_ID"], "1234567890123456789");
}

INSTANTIATE_TEST_SUITE_P(
    Rules, VertexRoles,
    testing::Values(VertexRow{"master", replica::v1::MASTER, 0, R"({"type": "workerpool0", "index": 0})",
                              R"({"type": "chief", "index": 0})", "0"},
                    VertexRow{"worker", replica::v1::WORKER, 1, R"({"type": "workerpool1", "index": 1})",
                              R"({"type": "worker", "index": 1})", "2"},
                    VertexRow{"ps", replica::v1::PARAMETER_SERVER, 0,
                              R"({"type": "workerpool2", "index": 0})", R"({"type": "ps", "index": 0})",
                              nullptr},
                    VertexRow{"evaluator", replica::v1::EVALUATOR, 0,
                              R"({"type": "workerpool3", "index": 0})",
                              R"({"type": "evaluator", "index": 0})", nullptr}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(VertexVariables, OfASingleReplicaHaveNoTfConfig) {
  Cluster cluster;
  Add(cluster, replica::v1::MASTER, 0, 2222, true);
  Manifest manifest = VertexFor(replica::v1::MASTER, 0);
  manifest.mutable_program()->clear_python_module();
  manifest.set_trial_id("1");
  manifest.set_metric_tag("loss");
  EXPECT_EQ(
      ReplicaVariables(manifest, cluster, 1),
      (Variables{
          {"CLUSTER_SPEC", R"({"cluster": {"workerpool0": ["127.0.0.1:2222"]}, "environment": "cloud", )"
                           R"("task": {"type": "workerpool0", "index": 0, "trial": "1"}, )"
                           R"("job": "{\"scale_tier\": \"CUSTOM\", \"worker_count\": \"2\"}"})"},
          {"CLOUD_ML_JOB_ID", "1234567890123456789"},
          {"CLOUD_ML_PROJECT_ID", "my-project"},
          {"CLOUD_ML_REGION", "us-central1"},
          {"CLOUD_ML_TRIAL_ID", "1"},
          {"CLOUD_ML_HP_METRIC_TAG", "loss"},
          {"CLOUD_ML_HP_METRIC_FILE", "/tmp/hypertune/output.metrics"},
          {"CMLE_TRAINING_WORKERPOOL0_E118E0F997_0_SERVICE_HOST", "127.0.0.1"},
          {"CMLE_TRAINING_WORKERPOOL0_E118E0F997_0_SERVICE_PORT", "2222"},
      }));
}

/// The variables "..._SERVICE_HOST" and "..._SERVICE_PORT".
Variables ServicesIn(const Variables& variables) {
  Variables services;
  for (const auto& [name, value] : variables)
    if (name.find("_SERVICE_") != std::string::npos) services.emplace(name, value);
  return services;
}

TEST(VertexVariables, NameTheAddressOfEachReplica) {
  const Manifest worker = VertexFor(replica::v1::WORKER, 1);
  const Variables named = ServicesIn(ReplicaVariables(worker, VertexGang(), 1));
  EXPECT_EQ(named.size(), 10U) << "two for each of the five replicas";
  EXPECT_EQ(named.at("CMLE_TRAINING_WORKERPOOL1_E118E0F997_1_SERVICE_HOST"),
            "cmle-training-workerpool1-e118e0f997-1");
  EXPECT_EQ(named.at("CMLE_TRAINING_WORKERPOOL1_E118E0F997_1_SERVICE_PORT"), "20002");
  EXPECT_EQ(named.at("CMLE_TRAINING_WORKERPOOL3_E118E0F997_0_SERVICE_PORT"), "20004");

  const Variables by_address = ServicesIn(ReplicaVariables(worker, Gang(true, false), 1));
  EXPECT_EQ(by_address.at("CMLE_TRAINING_WORKERPOOL0_E118E0F997_0_SERVICE_HOST"), "127.8.0.1");
  EXPECT_EQ(by_address.size(), named.size());
}

TEST(VertexVariables, WithoutAHostNameNameNoAddresses) {
  for (const char* name : {"", "localhost", "node-1"}) {
    Manifest manifest = VertexFor(replica::v1::MASTER, 0);
    manifest.set_host_name(name);
    EXPECT_EQ(ServicesIn(ReplicaVariables(manifest, VertexGang(), 1)), Variables{}) << name;
  }
  Manifest ml = For(replica::v1::MASTER, 0, true);
  ml.set_host_name("cmle-training-chief-e118e0f997-0");
  EXPECT_EQ(ServicesIn(ReplicaVariables(ml, Gang(true), 1)), Variables{}) << "ml v1 has none";
}

TEST(VertexVariables, OfATrialOfSeveralReplicasCarryItsId) {
  Manifest manifest = VertexFor(replica::v1::WORKER, 0);
  manifest.set_trial_id("7");
  auto variables = ReplicaVariables(manifest, VertexGang(), 1);
  EXPECT_NE(variables["TF_CONFIG"].find(R"("task": {"type": "worker", "index": 0, "trial": "7"})"),
            std::string::npos)
      << variables["TF_CONFIG"];
  EXPECT_NE(variables["CLUSTER_SPEC"].find(R"("task": {"type": "workerpool1", "index": 0, "trial": "7"})"),
            std::string::npos)
      << variables["CLUSTER_SPEC"];
}

TEST(VertexVariables, HaveAnotherApisJobIdAsItIs) {
  Manifest manifest = VertexFor(replica::v1::MASTER, 0);
  for (const char* id : {"census_1", "vertex_", "vertex_1a"}) {
    manifest.set_job_id(id);
    EXPECT_EQ(ReplicaVariables(manifest, VertexGang(), 1)["CLOUD_ML_JOB_ID"], id);
  }
}

TEST(RunnerArguments, AreTheThreeObjectsOfTheLogLine) {
  Cluster cluster;
  Add(cluster, replica::v1::MASTER, 0, 2222, false);
  EXPECT_EQ(RunnerArguments(For(replica::v1::MASTER, 0, false), cluster),
            R"(--cluster={"master": ["127.0.0.1:2222"]} --task={"type": "master", "index": 0} )"
            R"(--job={"scale_tier": "CUSTOM", "worker_count": "2"})");
}

struct ChiefRow {
  const char* name;
  const char* input;
  const char* runtime_version;
  bool chief;
};
class Chief : public testing::TestWithParam<ChiefRow> {};

TEST_P(Chief, FollowsRuntimeOrContainer) {
  ml::v1::TrainingInput input;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(GetParam().input, &input));
  EXPECT_EQ(UseChief(input, GetParam().runtime_version), GetParam().chief);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Chief,
    testing::Values(ChiefRow{"from_2_1", "", "2.1", true}, ChiefRow{"v2_15", "", "2.15", true},
                    ChiefRow{"v1_15", "", "1.15", false}, ChiefRow{"v2_0", "", "2.0", false},
                    ChiefRow{"none", "", "", false},
                    ChiefRow{"flag_ignored", "use_chief_in_tf_config: true", "1.15", false},
                    ChiefRow{"container", "master_config { image_uri: 'gcr.io/p/i' }", "2.4", false},
                    ChiefRow{"container_flag",
                             "master_config { image_uri: 'gcr.io/p/i' } use_chief_in_tf_config: true", "",
                             true},
                    ChiefRow{"vertex", "program_variables: VERTEX_AI", "1.15", true}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace trainyard::cluster
