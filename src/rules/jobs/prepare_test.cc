#include "rules/jobs/prepare.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "base/wire/json.h"

namespace trainyard::jobs {
namespace {

ml::v1::Job Parse(const std::string& text) {
  ml::v1::Job job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &job)) << text;
  return job;
}

TEST(MakeRecord, HasTheReplicasWithTheirMachines) {
  const auto record =
      MakeRecord("my-project",
                 Parse("job_id: 'census_1' training_input { scale_tier: STANDARD_1 region: 'us-central1' }"),
                 "2.15", SysTime{std::chrono::seconds{1'700'000'000}});
  EXPECT_EQ(record.project(), "my-project");
  EXPECT_EQ(record.runtime_version(), "2.15");
  EXPECT_EQ(record.revision(), 0);
  EXPECT_EQ(record.job().create_time().seconds(), 1'700'000'000);
  ASSERT_EQ(record.replicas_size(), 8);
  EXPECT_EQ(record.replicas(0).id().type(), replica::v1::MASTER);
  EXPECT_EQ(record.replicas(0).machine_type(), "complex_model_s");
  EXPECT_EQ(record.replicas(0).cpus(), 8);
  EXPECT_EQ(record.replicas(0).memory_bytes(), 7'730'941'133);
  EXPECT_EQ(record.replicas(7).id().type(), replica::v1::PARAMETER_SERVER);
  EXPECT_EQ(record.replicas(7).id().index(), 2);
  EXPECT_EQ(record.replicas(7).attempt(), 0);
  EXPECT_TRUE(record.notes().empty());
}

TEST(MakeRecord, GivesGpusToTheirReplicas) {
  const auto record = MakeRecord("p",
                                 Parse("job_id: 'j' training_input { scale_tier: CUSTOM master_type: "
                                       "'complex_model_m_gpu' worker_count: 1 "
                                       "worker_type: 'standard' }"),
                                 "2.15", SysTime{});
  ASSERT_EQ(record.replicas_size(), 2);
  EXPECT_EQ(record.replicas(0).accelerators().type(), ml::v1::AcceleratorConfig::NVIDIA_TESLA_K80);
  EXPECT_EQ(record.replicas(0).accelerators().count(), 4);
  EXPECT_FALSE(record.replicas(1).has_accelerators());
}

TEST(MakeRecord, EachRoleRunsItsImage) {
  const auto record =
      MakeRecord("p",
                 Parse("job_id: 'j' training_input { scale_tier: CUSTOM master_type: 'standard' "
                       "worker_count: 1 worker_type: 'standard' evaluator_count: 1 "
                       "evaluator_type: 'standard' }"),
                 "2.15", SysTime{}, {{replica::v1::WORKER, "w"}, {replica::v1::PARAMETER_SERVER, "nobody"}});
  ASSERT_EQ(record.replicas_size(), 3);
  EXPECT_EQ(record.replicas(0).image(), "");
  EXPECT_EQ(record.replicas(1).image(), "w");
  EXPECT_EQ(record.replicas(2).image(), "");
}

TEST(MakeRecord, ACloudTpuWorkerIsTheMastersTpu) {
  const std::string custom =
      "scale_tier: CUSTOM master_type: 'n1-highcpu-16' worker_type: 'cloud_tpu' worker_count: 1";
  const std::string inputs[] = {"scale_tier: BASIC_TPU", custom,
                                custom + " worker_config { accelerator_config { type: TPU_V3 count: 8 } }"};
  for (const std::string& input : inputs) {
    const auto record =
        MakeRecord("p", Parse("job_id: 'j' training_input { " + input + "}"), "2.1", SysTime{});
    ASSERT_EQ(record.replicas_size(), 1) << input;
    EXPECT_EQ(record.replicas(0).id().type(), replica::v1::MASTER);
    const bool v3 = input.find("V3") != std::string::npos;
    EXPECT_EQ(record.replicas(0).accelerators().type(),
              v3 ? ml::v1::AcceleratorConfig::TPU_V3 : ml::v1::AcceleratorConfig::TPU_V2);
    EXPECT_EQ(record.replicas(0).accelerators().count(), 8);
  }
}

TEST(MakeRecord, NotesWhatHasNoEffect) {
  const auto record = MakeRecord(
      "p",
      Parse("job_id: 'j' training_input { scale_tier: BASIC master_type: 'n1-standard-4' master_config { "
            "disk_config { boot_disk_size_gb: 200 } } network: 'projects/1/global/networks/n' "
            "encryption_config { kms_key_name: 'k' } }"),
      "2.15", SysTime{});
  EXPECT_THAT(record.notes(),
              testing::ElementsAre(
                  "master_type n1-standard-4 has no effect with scale_tier BASIC.",
                  "master_config.disk_config is kept and shown, but has no effect on this server.",
                  "network projects/1/global/networks/n is kept and shown, but has no effect on this server.",
                  "encryption_config k is kept and shown, but has no effect on this server."));
}

TEST(ClusterHash, IsTenHexDigitsAndStable) {
  EXPECT_EQ(ClusterHash("my-project", "census_1"), ClusterHash("my-project", "census_1"));
  EXPECT_NE(ClusterHash("my-project", "census_1"), ClusterHash("my-project", "census_2"));
  EXPECT_NE(ClusterHash("a", "b_c"), ClusterHash("a_b", "c"));
  EXPECT_THAT(ClusterHash("my-project", "census_1"), testing::MatchesRegex("[0-9a-f]{10}"));
}

TEST(WithDefaults, ClearsWhatOnlyTheServerMaySet) {
  const ml::v1::Job job =
      WithDefaults(Parse("job_id: 'j' state: SUCCEEDED error_message: 'x' create_time { seconds: 1 } "
                         "start_time { seconds: 1 } end_time { seconds: 1 } "
                         "etag: 'e' job_position: 4 training_output { consumed_ml_units: 7 } "
                         "prediction_output { } labels { key: 'a' value: 'b' } "
                         "training_input { python_module: 'm' scale_tier: BASIC }"));
  EXPECT_EQ(
      wire::PrintJsonCompact(job),
      R"({"jobId":"j","labels":{"a":"b"},"state":"QUEUED","trainingInput":{"pythonModule":"m","scaleTier":"BASIC"},"trainingOutput":{}})");
}

TEST(WithDefaults, SaysThatItIsATuningJob) {
  EXPECT_EQ(
      wire::PrintJsonCompact(WithDefaults(Parse("training_input { hyperparameters { } }")).training_output()),
      R"({"hyperparameterMetricTag":"training/hptuning/metric","isHyperparameterTuningJob":true})");
}

}  // namespace
}  // namespace trainyard::jobs
