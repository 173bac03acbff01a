#include "control/run/manifest.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include "control/run/orphans.h"
#include "control/run/token_service.h"

namespace trainyard::control {
namespace {

v1::JobRecord MakeRecord() {
  v1::JobRecord record;
  record.set_uid(12);
  record.set_project("p");
  record.set_runtime_version("2.15");
  ml::v1::TrainingInput& input = *record.mutable_job()->mutable_training_input();
  input.set_python_module("trainer.task");
  input.add_args("--a=1");
  input.set_job_dir("gs://b/d");
  v1::ReplicaRecord& worker = *record.add_replicas();
  worker.mutable_id()->set_type(replica::v1::WORKER);
  worker.mutable_id()->set_index(3);
  record.set_cluster_hash("0123456789");
  return record;
}

const Settings kSettings{.keys = Keys::Derive("s"),
                         .stop_grace = std::chrono::seconds(7),
                         .job_log_bytes_max = 10,
                         .replica_log_bytes_max = 5};

TEST(Manifest, SaysWhatAReplicaNeeds) {
  const replica::v1::Manifest manifest = MakeManifest(kSettings, MakeRecord(), 0, 2);
  EXPECT_EQ(manifest.attempt_id(), "12-worker-replica-3-2");
  EXPECT_EQ(manifest.task_name(), "worker-replica-3");
  EXPECT_FALSE(manifest.has_places()) << "the node's part is the attempt host's";
  EXPECT_EQ(manifest.host_name(), "cmle-training-worker-0123456789-3");
  EXPECT_EQ(AttemptOfHost(kSettings.keys, manifest.metadata_host_name()), "12-worker-replica-3-2");
  EXPECT_EQ(manifest.limits().stop_grace_ms(), 7000);
  EXPECT_EQ(manifest.limits().log_bytes(), 5);
  EXPECT_EQ(manifest.limits().job_log_bytes(), 10);
  EXPECT_EQ(manifest.program().args_size(), 3);
  EXPECT_EQ(manifest.program().args(1), "--job-dir");
  EXPECT_EQ(manifest.SerializeAsString(), MakeManifest(kSettings, MakeRecord(), 0, 2).SerializeAsString());
}

TEST(Manifest, HasTheJobsVariablesAndOnlyTheNamesOfItsSecrets) {
  v1::JobRecord record = MakeRecord();
  ml::v1::TrainingInput& input = *record.mutable_job()->mutable_training_input();
  input.add_env()->set_name("LEVEL");
  input.mutable_env(0)->set_value("2");
  input.add_env()->set_name("TOKEN");
  input.mutable_env(1)->set_secret(true);
  replica::v1::Manifest manifest = MakeManifest(kSettings, record, 0, 2);
  EXPECT_THAT(manifest.environment(), testing::UnorderedElementsAre(testing::Pair("LEVEL", "2")));
  EXPECT_THAT(manifest.secrets(), testing::ElementsAre("TOKEN"));
  EXPECT_EQ(manifest.job_json().find("env"), std::string::npos) << manifest.job_json();
  EXPECT_EQ(AddSecrets({}, manifest).error(), NotFound("the value of the secret TOKEN is gone"));
  ASSERT_TRUE(AddSecrets({{"TOKEN", "hunter2"}}, manifest));
  EXPECT_THAT(manifest.environment(),
              testing::UnorderedElementsAre(testing::Pair("LEVEL", "2"), testing::Pair("TOKEN", "hunter2")));
}

TEST(Manifest, AJobDirAsAVariableIsNoArgument) {
  v1::JobRecord record = MakeRecord();
  ml::v1::TrainingInput& input = *record.mutable_job()->mutable_training_input();
  input.set_job_dir("gs://b/d/");
  input.set_job_dir_as_variable(true);
  input.add_env()->set_name("AIP_MODEL_DIR");
  input.mutable_env(0)->set_value("/tmp");
  const replica::v1::Manifest manifest = MakeManifest(kSettings, record, 0, 2);
  EXPECT_EQ(manifest.work_folder(), "gs://b/d");
  EXPECT_THAT(manifest.program().args(), testing::ElementsAre("--a=1"));
  EXPECT_THAT(manifest.environment(),
              testing::UnorderedElementsAre(testing::Pair("TRAINYARD_JOB_DIR", "gs://b/d"),
                                            testing::Pair("AIP_MODEL_DIR", "/tmp"),
                                            testing::Pair("AIP_CHECKPOINT_DIR", "gs://b/d/checkpoints/"),
                                            testing::Pair("AIP_TENSORBOARD_LOG_DIR", "gs://b/d/logs/")));
  EXPECT_EQ(manifest.job_json().find("as_variable"), std::string::npos)
      << "of a field that is not the original's";
  record.mutable_trial()->set_trial_id("7");
  EXPECT_EQ(MakeManifest(kSettings, record, 0, 2).environment().at("TRAINYARD_JOB_DIR"), "gs://b/d/7");
  input.mutable_env(0)->set_name("TRAINYARD_JOB_DIR");
  EXPECT_EQ(MakeManifest(kSettings, record, 0, 2).environment().at("TRAINYARD_JOB_DIR"), "/tmp");
  EXPECT_EQ(MakeManifest(kSettings, record, 0, 2).work_folder(), "gs://b/d/7")
      << "whatever its variables say";
}

TEST(Manifest, ARolesProgramReplacesThatOfTheJob) {
  v1::JobRecord record = MakeRecord();
  ml::v1::TrainingInput& input = *record.mutable_job()->mutable_training_input();
  const auto add = [](auto& env, const char* name, const char* value, bool secret) {
    ml::v1::EnvVar& variable = *env.Add();
    variable.set_name(name);
    variable.set_value(value);
    variable.set_secret(secret);
  };
  add(*input.mutable_env(), "LEVEL", "1", false);
  add(*input.mutable_env(), "MODE", "a", false);
  add(*input.mutable_env(), "TOKEN", "", true);
  add(*input.mutable_env(), "PASSWORD", "", true);
  ml::v1::ReplicaConfig& worker = *input.mutable_worker_config();
  worker.add_args("--b");
  worker.set_python_module("trainer.worker");
  add(*worker.mutable_env(), "MODE", "b", false);
  add(*worker.mutable_env(), "TOKEN", "public", false);
  record.mutable_trial()->set_trial_id("7");
  (*record.mutable_trial()->mutable_hyperparameters())["x"] = "1";
  input.mutable_hyperparameters()->add_params()->set_parameter_name("x");
  const replica::v1::Manifest manifest = MakeManifest(kSettings, record, 0, 1);
  EXPECT_EQ(manifest.program().python_module(), "trainer.worker");
  EXPECT_THAT(manifest.program().args(), testing::ElementsAre("--b", "--x=1", "--job-dir", "gs://b/d/7"));
  EXPECT_THAT(manifest.environment(),
              testing::UnorderedElementsAre(testing::Pair("LEVEL", "1"), testing::Pair("MODE", "b"),
                                            testing::Pair("TOKEN", "public")));
  EXPECT_THAT(manifest.secrets(), testing::ElementsAre("PASSWORD"));
  EXPECT_EQ(manifest.job_json().find("trainer.worker"), std::string::npos) << manifest.job_json();
  EXPECT_EQ(manifest.job_json().find("env"), std::string::npos) << manifest.job_json();
  record.mutable_replicas(0)->mutable_id()->set_type(replica::v1::EVALUATOR);
  const replica::v1::Manifest other = MakeManifest(kSettings, record, 0, 1);
  EXPECT_EQ(other.program().python_module(), "trainer.task");
  EXPECT_EQ(other.program().args(0), "--a=1");
  EXPECT_THAT(other.secrets(), testing::ElementsAre("TOKEN", "PASSWORD"));
}

TEST(Manifest, VertexVariablesHaveThePlacesBelowThePrefix) {
  v1::JobRecord record = MakeRecord();
  ml::v1::TrainingInput& input = *record.mutable_job()->mutable_training_input();
  input.clear_job_dir();
  input.set_output_uri_prefix("gs://b/out/");
  replica::v1::Manifest manifest = MakeManifest(kSettings, record, 0, 1);
  EXPECT_FALSE(manifest.vertex_variables());
  EXPECT_THAT(manifest.environment(), testing::IsEmpty());
  input.set_program_variables(ml::v1::TrainingInput::VERTEX_AI);
  manifest = MakeManifest(kSettings, record, 0, 1);
  EXPECT_TRUE(manifest.vertex_variables());
  EXPECT_TRUE(manifest.use_chief());
  EXPECT_EQ(manifest.host_name(), "cmle-training-workerpool1-0123456789-3");
  EXPECT_EQ(manifest.work_folder(), "");
  EXPECT_EQ(manifest.job_json().find("prefix"), std::string::npos) << manifest.job_json();
  EXPECT_EQ(manifest.job_json().find("variables"), std::string::npos) << manifest.job_json();
  EXPECT_THAT(manifest.environment(),
              testing::UnorderedElementsAre(testing::Pair("AIP_MODEL_DIR", "gs://b/out/model/"),
                                            testing::Pair("AIP_CHECKPOINT_DIR", "gs://b/out/checkpoints/"),
                                            testing::Pair("AIP_TENSORBOARD_LOG_DIR", "gs://b/out/logs/")));
  input.set_job_dir("gs://b/d");
  input.set_job_dir_as_variable(true);
  EXPECT_EQ(MakeManifest(kSettings, record, 0, 1).environment().at("AIP_MODEL_DIR"), "gs://b/out/model/");
  input.clear_job_dir_as_variable();
  record.mutable_trial()->set_trial_id("7");
  ml::v1::EnvVar& own = *input.mutable_worker_config()->add_env();
  own.set_name("AIP_CHECKPOINT_DIR");
  own.set_value("/tmp");
  EXPECT_THAT(MakeManifest(kSettings, record, 0, 1).environment(),
              testing::UnorderedElementsAre(testing::Pair("AIP_MODEL_DIR", "gs://b/out/7/model/"),
                                            testing::Pair("AIP_CHECKPOINT_DIR", "/tmp"),
                                            testing::Pair("AIP_TENSORBOARD_LOG_DIR", "gs://b/out/7/logs/")));
}

/// A container job's worker, which inherits the master's image.
v1::JobRecord MakeContainerRecord() {
  v1::JobRecord record = MakeRecord();
  record.clear_runtime_version();
  ml::v1::TrainingInput& input = *record.mutable_job()->mutable_training_input();
  input.clear_python_module();
  input.mutable_master_config()->set_image_uri("i:1");
  record.mutable_replicas(0)->set_image("i:1");
  record.mutable_replicas(0)->set_cpus(4);
  record.mutable_replicas(0)->set_memory_bytes(1 << 30);
  v1::ImageRecord& image = *record.add_images();
  image.set_image("i:1");
  image.set_reference("docker.io/library/i@sha256:0");
  image.set_digest("sha256:0");
  return record;
}

TEST(ContainerManifest, HasTheImageThatTheRecordHas) {
  const replica::v1::Manifest manifest = MakeManifest(kSettings, MakeContainerRecord(), 0, 1);
  const replica::v1::Manifest::Container& container = manifest.program().container();
  EXPECT_EQ(container.image(), "i:1");
  EXPECT_EQ(container.reference(), "docker.io/library/i@sha256:0");
  EXPECT_EQ(container.digest(), "sha256:0");
  EXPECT_EQ(manifest.program().runtime_version(), "");
  EXPECT_EQ(manifest.program().python_module(), "");
  EXPECT_EQ(manifest.program().packages_size(), 0);
}

TEST(ContainerManifest, FourCasesOfWhatToRun) {
  struct Case {
    const char* config;  ///< of the worker
    bool args;           ///< the job has arguments
    std::vector<std::string> command;
    std::vector<std::string> arguments;
  };
  for (const Case& row :
       {Case{"", true, {}, {"--a=1"}}, Case{"", false, {}, {}},
        Case{"container_command: 'c'", false, {"c"}, {}}, Case{"container_args: 'x'", false, {}, {"x"}},
        Case{"container_command: 'c' container_args: 'x'", false, {"c"}, {"x"}}}) {
    v1::JobRecord record = MakeContainerRecord();
    ml::v1::TrainingInput& input = *record.mutable_job()->mutable_training_input();
    // The master's command applies to no other role.
    if (!row.args) input.mutable_master_config()->add_container_args("masters");
    if (!row.args) input.clear_args();
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(row.config, input.mutable_worker_config()));
    const replica::v1::Manifest manifest = MakeManifest(kSettings, record, 0, 1);
    const replica::v1::Manifest::Container& container = manifest.program().container();
    EXPECT_THAT(container.command(), testing::ElementsAreArray(row.command));
    EXPECT_THAT(container.args(), testing::ElementsAreArray(row.arguments));
    EXPECT_THAT(container.service_args(), testing::ElementsAre("--job-dir", "gs://b/d"));
    EXPECT_EQ(manifest.program().args_size(), 0);
  }
}

TEST(ContainerManifest, APackageIsRunByTheImageUnlessTheRoleSaysWhatToRun) {
  v1::JobRecord record = MakeContainerRecord();
  ml::v1::TrainingInput& input = *record.mutable_job()->mutable_training_input();
  input.set_python_module("trainer.task");
  record.add_packages()->set_uri("gs://b/p.tar.gz");
  replica::v1::Manifest manifest = MakeManifest(kSettings, record, 0, 1);
  EXPECT_EQ(manifest.program().python_module(), "trainer.task");
  EXPECT_EQ(manifest.program().packages_size(), 1);
  EXPECT_THAT(manifest.program().args(), testing::ElementsAre("--a=1", "--job-dir", "gs://b/d"));
  EXPECT_EQ(manifest.program().container().digest(), "sha256:0");
  EXPECT_EQ(manifest.program().container().args_size(), 0);
  EXPECT_EQ(manifest.program().container().service_args_size(), 0);
  input.clear_args();
  input.mutable_worker_config()->add_container_command("/bin/serve");
  manifest = MakeManifest(kSettings, record, 0, 1);
  EXPECT_EQ(manifest.program().python_module(), "");
  EXPECT_EQ(manifest.program().packages_size(), 0);
  EXPECT_THAT(manifest.program().container().command(), testing::ElementsAre("/bin/serve"));
}

TEST(Manifest, ARolesPackagesReplaceThoseOfTheJob) {
  v1::JobRecord record = MakeRecord();
  record.add_packages()->set_uri("gs://b/job.whl");
  record.add_role_packages()->set_type(replica::v1::MASTER);
  EXPECT_EQ(MakeManifest(kSettings, record, 0, 1).program().packages(0).uri(), "gs://b/job.whl");
  v1::RolePackages& own = *record.add_role_packages();
  own.set_type(replica::v1::WORKER);
  own.add_packages()->set_uri("gs://b/worker.whl");
  const replica::v1::Manifest manifest = MakeManifest(kSettings, record, 0, 1);
  ASSERT_EQ(manifest.program().packages_size(), 1);
  EXPECT_EQ(manifest.program().packages(0).uri(), "gs://b/worker.whl");
  EXPECT_EQ(manifest.program().python_module(), "trainer.task");
}

TEST(ContainerManifest, ARolesPackageIsRunByItsImageInAJobWithoutAModule) {
  v1::JobRecord record = MakeContainerRecord();
  ml::v1::TrainingInput& input = *record.mutable_job()->mutable_training_input();
  input.clear_python_module();
  input.mutable_worker_config()->set_python_module("judge.task");
  v1::RolePackages& own = *record.add_role_packages();
  own.set_type(replica::v1::WORKER);
  own.add_packages()->set_uri("gs://b/judge.whl");
  const replica::v1::Manifest manifest = MakeManifest(kSettings, record, 0, 1);
  EXPECT_EQ(manifest.program().python_module(), "judge.task");
  EXPECT_EQ(manifest.program().packages(0).uri(), "gs://b/judge.whl");
  EXPECT_EQ(manifest.program().container().digest(), "sha256:0");
}

TEST(ContainerManifest, ARolesArgumentsReplaceThoseOfTheJob) {
  v1::JobRecord record = MakeContainerRecord();
  record.mutable_job()->mutable_training_input()->mutable_worker_config()->add_args("--b");
  EXPECT_THAT(MakeManifest(kSettings, record, 0, 1).program().container().args(),
              testing::ElementsAre("--b"));
}

TEST(ContainerManifest, Limits) {
  v1::JobRecord record = MakeContainerRecord();
  Settings settings = kSettings;
  replica::v1::Manifest::Limits limits = MakeManifest(settings, record, 0, 1).limits();
  EXPECT_EQ(limits.memory_bytes(), 0) << "replicas share the machine";
  EXPECT_EQ(limits.cpus(), 0);
  EXPECT_EQ(limits.pids(), kReplicaPidsMax);
  EXPECT_EQ(limits.disk_bytes(), 0) << "no diskConfig";
  EXPECT_EQ(limits.shared_memory_bytes(), 0);
  settings.machine_limits = true;
  record.mutable_job()
      ->mutable_training_input()
      ->mutable_worker_config()
      ->mutable_disk_config()
      ->set_boot_disk_size_gb(200);
  limits = MakeManifest(settings, record, 0, 1).limits();
  EXPECT_EQ(limits.memory_bytes(), 1 << 30);
  EXPECT_EQ(limits.cpus(), 4);
  EXPECT_EQ(limits.shared_memory_bytes(), 1 << 29);
  EXPECT_EQ(limits.disk_bytes(), std::int64_t{200} << 30);
  record.mutable_replicas(0)->clear_image();
  limits = MakeManifest(settings, record, 0, 1).limits();
  EXPECT_EQ(limits.memory_bytes(), 1 << 30) << "packages as well";
  EXPECT_EQ(limits.pids(), kReplicaPidsMax);
  EXPECT_EQ(limits.disk_bytes(), 0);
}

TEST(MakeCluster, SaysWhereTheReplicasSaidThatTheyAre) {
  v1::JobRecord record = MakeRecord();
  record.mutable_replicas(0)->mutable_slot()->set_address("10.0.0.1");
  jobs::Observation seen;
  seen.replicas.resize(1);
  EXPECT_EQ(MakeCluster(record, seen).endpoints(0).address(), "10.0.0.1") << "nothing better is known";
  EXPECT_EQ(MakeCluster(record, seen).endpoints(0).host_name(), "cmle-training-worker-0123456789-3");
  record.mutable_replicas(0)->mutable_endpoint()->set_port(1);
  EXPECT_EQ(MakeCluster(record, seen).endpoints(0).port(), 1);
  seen.replicas[0].endpoint.emplace().set_port(2);
  EXPECT_EQ(MakeCluster(record, seen).endpoints(0).port(), 2);
}

TEST(AttemptToken, IsTheAttemptsOwn) {
  const std::string token = AttemptToken(kSettings, "1-a-1");
  EXPECT_EQ(token.size(), 64U);
  EXPECT_TRUE(IsAttemptToken(kSettings, "1-a-1", token));
  EXPECT_FALSE(IsAttemptToken(kSettings, "1-a-2", token));
  EXPECT_FALSE(IsAttemptToken(kSettings, "1-a-1", ""));
  EXPECT_FALSE(IsAttemptToken(kSettings, "1-a-1", token + "0"));
  Settings other = kSettings;
  other.keys = Keys::Derive("t");
  EXPECT_FALSE(IsAttemptToken(other, "1-a-1", token));
}

}  // namespace
}  // namespace trainyard::control
