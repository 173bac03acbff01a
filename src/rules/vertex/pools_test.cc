#include "rules/vertex/pools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/vertex/custom_job.h"
#include "rules/vertex/testing/parse.h"

namespace trainyard::vertex::pools_test {
namespace {

using ml::v1::AcceleratorConfig;
using ml::v1::TrainingInput;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::WithPools;

/// The job of these pools; an empty one and a failure if they have mistakes.
TrainingInput InputOf(std::string_view pools, std::vector<std::string>* remarks = nullptr) {
  const auto translated = JobOf(WithPools(pools), "us-central1", 1);
  EXPECT_TRUE(translated.has_value()) << translated.error().message;
  if (!translated) return {};
  if (remarks != nullptr) *remarks = translated->remarks;
  return translated->job.training_input();
}

constexpr std::string_view kMachine =
    R"("machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1")";
constexpr std::string_view kImage = R"("containerSpec": {"imageUri": "gcr.io/p/img"})";

std::string PoolText(std::string_view rest) {
  return std::string("{").append(kMachine).append(", ").append(rest).append("}");
}

TEST(Pools, FillRolesByPosition) {
  const TrainingInput input = InputOf(R"([
    {"machineSpec": {"machineType": "n1-standard-8", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 2},
     "replicaCount": 1, "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 200},
     "containerSpec": {"imageUri": "gcr.io/p/a", "command": ["python", "a.py"], "args": ["--x"]}},
    {},
    {"machineSpec": {"machineType": "n1-highmem-4"}, "replicaCount": "3", "containerSpec": {"imageUri": "gcr.io/p/b"}},
    {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1", "containerSpec": {"imageUri": "gcr.io/p/c"}}])");
  EXPECT_EQ(input.scale_tier(), TrainingInput::CUSTOM);
  EXPECT_EQ(input.master_type(), "n1-standard-8");
  EXPECT_EQ(input.master_config().accelerator_config().type(), AcceleratorConfig::NVIDIA_TESLA_T4);
  EXPECT_EQ(input.master_config().accelerator_config().count(), 2);
  EXPECT_EQ(input.master_config().disk_config().boot_disk_size_gb(), 200);
  EXPECT_EQ(input.master_config().disk_config().boot_disk_type(), "pd-ssd");
  EXPECT_EQ(input.master_config().image_uri(), "gcr.io/p/a");
  EXPECT_THAT(input.master_config().container_command(), ElementsAre("python", "a.py"));
  EXPECT_THAT(input.master_config().container_args(), ElementsAre("--x"));
  EXPECT_EQ(input.worker_count(), 0);
  EXPECT_EQ(input.parameter_server_type(), "n1-highmem-4");
  EXPECT_EQ(input.parameter_server_count(), 3);
  EXPECT_EQ(input.parameter_server_config().image_uri(), "gcr.io/p/b");
  EXPECT_EQ(input.evaluator_count(), 1);
  EXPECT_THAT(input.args(), IsEmpty());
  EXPECT_EQ(input.python_module(), "");
}

std::string Package(std::string_view more, std::string_view module = "trainer.task",
                    std::string_view image = "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-8:latest") {
  return PoolText(std::string(R"("pythonPackageSpec": {"executorImageUri": ")")
                      .append(image)
                      .append(R"(", "packageUris": ["gs://b/t.tar.gz"], "pythonModule": ")")
                      .append(module)
                      .append("\"")
                      .append(more)
                      .append("}"));
}

TEST(Pools, RunPackagesInARuntimeVersion) {
  const std::string pool = Package(R"(, "args": ["--a", "1"], "env": [{"name": "K", "value": "V"}])");
  const TrainingInput input = InputOf("[" + pool + ", " + pool + "]");
  EXPECT_EQ(input.runtime_version(), "2.8");
  EXPECT_EQ(input.python_version(), "3.7");
  EXPECT_THAT(input.package_uris(), ElementsAre("gs://b/t.tar.gz"));
  EXPECT_EQ(input.python_module(), "trainer.task");
  EXPECT_THAT(input.args(), ElementsAre("--a", "1"));
  ASSERT_EQ(input.env_size(), 1);
  EXPECT_EQ(input.env(0).name() + "=" + input.env(0).value(), "K=V");
  EXPECT_EQ(input.master_config().image_uri(), "");
  EXPECT_EQ(input.worker_config().ByteSizeLong(), 0U) << "the same as the master's";
}

TEST(Pools, MayDifferInModuleArgumentsAndVariables) {
  const TrainingInput input = InputOf("[" + Package(R"(, "args": ["--a"])") + ", " +
                                      Package(R"(, "env": [{"name": "K", "value": "V"}])", "trainer.other",
                                              "us-docker.pkg.dev/vertex-ai/training/tf-gpu.2-8:latest") +
                                      ", " + Package("", "trainer.task", "gcr.io/p/own") + "]");
  EXPECT_EQ(input.python_module(), "trainer.task");
  EXPECT_EQ(input.worker_config().python_module(), "trainer.other");
  EXPECT_THAT(input.args(), IsEmpty()) << "the workers have none";
  EXPECT_THAT(input.master_config().args(), ElementsAre("--a"));
  EXPECT_THAT(input.worker_config().args(), IsEmpty());
  EXPECT_EQ(input.env_size(), 0);
  EXPECT_EQ(input.worker_config().env_size(), 1);
  EXPECT_EQ(input.worker_config().image_uri(), "") << "the runtime version of the master";
  EXPECT_EQ(input.parameter_server_config().image_uri(), "gcr.io/p/own");
}

/// A pool with another package than Package().
std::string Other(std::string_view image) {
  return PoolText(std::string(R"("pythonPackageSpec": {"packageUris": ["gs://b/1.whl", "gs://b/2.whl"], )")
                      .append(R"("pythonModule": "judge.task", "executorImageUri": ")")
                      .append(image)
                      .append("\"}"));
}

TEST(Pools, MayHavePackagesOfTheirOwn) {
  const TrainingInput input = InputOf("[" + Package("") + ", " + Package("") + ", " +
                                      Other("us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-8:latest") + "]");
  EXPECT_THAT(input.package_uris(), ElementsAre("gs://b/t.tar.gz"));
  EXPECT_THAT(input.worker_config().package_uris(), IsEmpty()) << "the same as the master's";
  const auto& config = input.parameter_server_config();
  EXPECT_THAT(config.package_uris(), ElementsAre("gs://b/1.whl", "gs://b/2.whl"));
  EXPECT_EQ(config.python_module(), "judge.task");
  EXPECT_EQ(config.image_uri(), "");
}

TEST(Pools, MayRunAPackageBesideAContainer) {
  const TrainingInput input = InputOf("[" + PoolText(kImage) + ", " + Other("gcr.io/p/own") + "]");
  EXPECT_THAT(input.package_uris(), IsEmpty());
  EXPECT_EQ(input.python_module(), "");
  EXPECT_THAT(input.worker_config().package_uris(), ElementsAre("gs://b/1.whl", "gs://b/2.whl"));
  EXPECT_EQ(input.worker_config().python_module(), "judge.task");
  EXPECT_EQ(input.worker_config().image_uri(), "gcr.io/p/own");
  EXPECT_EQ(input.runtime_version(), "");
}

TEST(Pools, RunPackagesInAnyOtherImage) {
  const TrainingInput input = InputOf("[" + Package("", "trainer.task", "gcr.io/p/own") + "]");
  EXPECT_EQ(input.master_config().image_uri(), "gcr.io/p/own");
  EXPECT_EQ(input.runtime_version(), "");
  EXPECT_EQ(input.python_module(), "trainer.task");
}

TEST(Pools, LeaveOutReductionServers) {
  std::vector<std::string> remarks;
  const std::string reduction = PoolText(
      R"("containerSpec": {"imageUri": "us-docker.pkg.dev/vertex-ai-restricted/training/reductionserver:latest"})");
  const TrainingInput input =
      InputOf("[" + PoolText(kImage) + ", " + PoolText(kImage) + ", " + reduction + "]", &remarks);
  EXPECT_EQ(input.parameter_server_count(), 0);
  EXPECT_EQ(input.worker_count(), 1);
  EXPECT_THAT(remarks, ElementsAre(HasSubstr("reduction servers")));
}

TEST(Pools, SayWhatHasNoEffect) {
  std::vector<std::string> remarks;
  const TrainingInput input =
      InputOf(R"([{"machineSpec": {"machineType": "n1-standard-4", "reservationAffinity": {"key": "k"}},
                   "diskSpec": {"bootDiskType": "hyperdisk-balanced"}, "containerSpec": {"imageUri": "x"}}])",
              &remarks);
  EXPECT_EQ(input.master_config().disk_config().boot_disk_type(), "");
  EXPECT_THAT(remarks, ElementsAre(HasSubstr("[0].machine_spec.reservation_affinity"),
                                   HasSubstr("[0].disk_spec.boot_disk_type")));
}

struct Row {
  std::string pools;
  std::string field;  ///< below job_spec.worker_pool_specs
  std::string text;   ///< a part of the message
};

class BadPools : public ::testing::TestWithParam<Row> {};

TEST_P(BadPools, AreRefused) {
  const auto translated = JobOf(WithPools(GetParam().pools), "us-central1", 1);
  ASSERT_FALSE(translated.has_value());
  const Error& error = translated.error();
  EXPECT_EQ(error.code, Code::kInvalidArgument);
  ASSERT_EQ(error.violations.size(), 1U) << error.message;
  EXPECT_EQ(error.violations[0].field, "job_spec.worker_pool_specs" + GetParam().field);
  EXPECT_THAT(error.message, HasSubstr(GetParam().text));
}

std::string Machine(std::string_view machine) {
  return std::string(R"([{"replicaCount": 1, "containerSpec": {"imageUri": "x"}, "machineSpec": )")
      .append(machine)
      .append("}]");
}

std::string Many(std::string_view one, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text.append(i == 0 ? "" : ", ").append(one);
  return "[" + text + "]";
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadPools,
    ::testing::Values(
        Row{"[]", "", "At least one worker pool"}, Row{"[{}]", "", "At least one worker pool"},
        Row{"[{}, " + PoolText(kImage) + "]", "[0]", "must not be empty"},
        Row{Many(PoolText(kImage), 5), "", "maximum number of worker pools is 4"},
        Row{R"([{"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 2, "containerSpec": {"imageUri": "x"}}])",
            "[0].replica_count", "must be 1; it is 2"},
        Row{"[" + PoolText(kImage) +
                R"(, {"machineSpec": {"machineType": "n1-standard-4"}, "containerSpec": {"imageUri": "x"}}])",
            "[1].replica_count", "at least 1"},
        Row{"[" + PoolText(R"("diskSpec": {})") + "]", "[0]", "Exactly one of"},
        Row{"[" + PoolText(R"("containerSpec": {})") + "]", "[0].container_spec.image_uri", "required"},
        Row{"[" + PoolText(R"("pythonPackageSpec": {"packageUris": ["gs://b/o"], "pythonModule": "m"})") +
                "]",
            "[0].python_package_spec.executor_image_uri", "required"},
        Row{"[" + PoolText(R"("pythonPackageSpec": {"executorImageUri": "x", "pythonModule": "m"})") + "]",
            "[0].python_package_spec.package_uris", "required"},
        Row{"[" + PoolText(R"("pythonPackageSpec": {"executorImageUri": "x", "packageUris": ["gs://b/o"]})") +
                "]",
            "[0].python_package_spec.python_module", "required"},
        Row{"[" +
                PoolText(
                    R"("pythonPackageSpec": {"executorImageUri": "x", "pythonModule": "m", "packageUris": )" +
                    Many(R"("gs://b/o")", 101) + "}") +
                "]",
            "[0].python_package_spec.package_uris", "is 100"},
        Row{"[" +
                PoolText(R"("containerSpec": {"imageUri": "x", "env": )" + Many(R"({"name": "A"})", 101) +
                         "}") +
                "]",
            "[0].container_spec.env", "is 100"},
        Row{Machine("{}"), "[0].machine_spec.machine_type", "required"},
        Row{Machine(R"({"machineType": "n1-standard-4", "acceleratorCount": 1})"),
            "[0].machine_spec.accelerator_type", "or none"},
        Row{"[" + PoolText(R"("nfsMounts": [{"server": "s"}], )" + std::string(kImage)) + "]",
            "[0].nfs_mounts", "/gcs/BUCKET"},
        Row{"[" + PoolText(kImage) + ", " + Package("") + "]", "[1].python_package_spec.executor_image_uri",
            "an executor image that it can pull"},
        Row{"[" + Package("") + ", " + PoolText(kImage) + "]", "[1].container_spec.command",
            "command or args"}));

TEST(BadPools, AreListedTogether) {
  const auto translated = JobOf(WithPools(R"([{"replicaCount": 2, "containerSpec": {}}])"), "us-central1", 1);
  ASSERT_FALSE(translated.has_value());
  EXPECT_EQ(translated.error().violations.size(), 3U);
  EXPECT_THAT(translated.error().message, ::testing::StartsWith("List of found errors:\t1.Field: job_spec."));
  EXPECT_THAT(translated.error().message, HasSubstr("\t3.Field: "));
  EXPECT_THAT(translated.error().message, ::testing::EndsWith("\t"));
}

}  // namespace
}  // namespace trainyard::vertex::pools_test
