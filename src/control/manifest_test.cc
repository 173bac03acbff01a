#include "control/manifest.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include "control/access_token.h"
#include "control/orphans.h"

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
  worker.mutable_endpoint()->set_port(20001);
  worker.mutable_endpoint()->set_host_name("cmle-training-worker-0123456789-3");
  return record;
}

const Settings kSettings{.attempts_dir = "/d/attempts",
                         .environments_dir = "/d/environments",
                         .attach_socket = "/d/run/attach.sock",
                         .replica_socket = "/d/run/replica.sock",
                         .keys = Keys::Derive("s"),
                         .stop_grace = std::chrono::seconds(7),
                         .job_log_bytes_max = 10,
                         .replica_log_bytes_max = 5};

TEST(Manifest, SaysWhatAReplicaNeeds) {
  const replica::v1::Manifest manifest = MakeManifest(kSettings, MakeRecord(), 0, 2);
  EXPECT_EQ(manifest.attempt_id(), "12-worker-replica-3-2");
  EXPECT_EQ(manifest.task_name(), "worker-replica-3");
  EXPECT_EQ(manifest.places().attempt_dir(), "/d/attempts/12-worker-replica-3-2");
  EXPECT_EQ(manifest.places().attach_socket(), "/d/run/attach.sock");
  EXPECT_EQ(manifest.places().replica_socket(), "/d/run/replica.sock");
  EXPECT_EQ(manifest.limits().stop_grace_ms(), 7000);
  EXPECT_EQ(manifest.limits().log_bytes(), 5);
  EXPECT_EQ(manifest.limits().job_log_bytes(), 10);
  EXPECT_EQ(manifest.port(), 20001);
  EXPECT_EQ(manifest.program().args_size(), 3);
  EXPECT_EQ(manifest.program().args(1), "--job-dir");
  EXPECT_EQ(manifest.SerializeAsString(), MakeManifest(kSettings, MakeRecord(), 0, 2).SerializeAsString());
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

Settings ContainerSettings() {
  Settings settings = kSettings;
  settings.images_dir = "/d/images";
  settings.container_engine = replica::v1::Manifest::OCI_RUNTIME;
  settings.container_engine_address = "/usr/bin/crun";
  return settings;
}

TEST(ContainerManifest, HasTheImageThatTheRecordHas) {
  const replica::v1::Manifest manifest = MakeManifest(ContainerSettings(), MakeContainerRecord(), 0, 1);
  const replica::v1::Manifest::Container& container = manifest.program().container();
  EXPECT_EQ(container.image(), "i:1");
  EXPECT_EQ(container.reference(), "docker.io/library/i@sha256:0");
  EXPECT_EQ(container.digest(), "sha256:0");
  EXPECT_EQ(container.engine(), replica::v1::Manifest::OCI_RUNTIME);
  EXPECT_EQ(container.engine_address(), "/usr/bin/crun");
  EXPECT_EQ(manifest.places().images_dir(), "/d/images");
  EXPECT_EQ(manifest.program().runtime_version(), "");
  EXPECT_EQ(manifest.program().python_module(), "");
  EXPECT_EQ(manifest.program().packages_size(), 0);
}

TEST(ContainerManifest, FourCasesOfWhatToRun) {
  struct Case {
    const char* config;  ///< of the worker
    bool args;           ///< the job has some
    std::vector<std::string> command;
    std::vector<std::string> arguments;
  };
  for (const Case& row :
       {Case{"", true, {}, {"--a=1"}}, Case{"", false, {}, {}},
        Case{"container_command: 'c'", false, {"c"}, {}}, Case{"container_args: 'x'", false, {}, {"x"}},
        Case{"container_command: 'c' container_args: 'x'", false, {"c"}, {"x"}}}) {
    v1::JobRecord record = MakeContainerRecord();
    ml::v1::TrainingInput& input = *record.mutable_job()->mutable_training_input();
    // What the master says what to run is nobody else's.
    if (!row.args) input.mutable_master_config()->add_container_args("masters");
    if (!row.args) input.clear_args();
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(row.config, input.mutable_worker_config()));
    const replica::v1::Manifest manifest = MakeManifest(ContainerSettings(), record, 0, 1);
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
  replica::v1::Manifest manifest = MakeManifest(ContainerSettings(), record, 0, 1);
  EXPECT_EQ(manifest.program().python_module(), "trainer.task");
  EXPECT_EQ(manifest.program().packages_size(), 1);
  EXPECT_THAT(manifest.program().args(), testing::ElementsAre("--a=1", "--job-dir", "gs://b/d"));
  EXPECT_EQ(manifest.program().container().digest(), "sha256:0");
  EXPECT_EQ(manifest.program().container().args_size(), 0);
  EXPECT_EQ(manifest.program().container().service_args_size(), 0);
  input.clear_args();
  input.mutable_worker_config()->add_container_command("/bin/serve");
  manifest = MakeManifest(ContainerSettings(), record, 0, 1);
  EXPECT_EQ(manifest.program().python_module(), "");
  EXPECT_EQ(manifest.program().packages_size(), 0);
  EXPECT_THAT(manifest.program().container().command(), testing::ElementsAre("/bin/serve"));
}

TEST(ContainerManifest, Limits) {
  v1::JobRecord record = MakeContainerRecord();
  Settings settings = ContainerSettings();
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
  settings.disk_bytes = std::int64_t{200} << 30;
  EXPECT_EQ(MakeManifest(settings, record, 0, 1).limits().disk_bytes(), 0)
      << "the machine's own disk is the limit";
  record.mutable_replicas(0)->clear_image();
  limits = MakeManifest(settings, record, 0, 1).limits();
  EXPECT_EQ(limits.memory_bytes(), 1 << 30) << "packages as well";
  EXPECT_EQ(limits.pids(), kReplicaPidsMax);
  EXPECT_EQ(limits.disk_bytes(), 0);
}

TEST(Manifest, TheEndpointSaysWhichNetwork) {
  v1::JobRecord record = MakeRecord();
  EXPECT_EQ(MakeManifest(kSettings, record, 0, 1).network(), replica::v1::Manifest::HOST);
  record.mutable_replicas(0)->mutable_endpoint()->set_port(kIsolatedPort);
  EXPECT_EQ(MakeManifest(kSettings, record, 0, 1).network(), replica::v1::Manifest::ISOLATED);
}

TEST(Manifest, NamesTheFrontAsItsNetworkReachesIt) {
  v1::JobRecord record = MakeRecord();
  EXPECT_FALSE(MakeManifest(kSettings, record, 0, 1).has_google_front());
  Settings settings = kSettings;
  settings.google_front.emplace().add_host_names("storage.googleapis.com");
  // Wanted, but not to be had: a replica in the machine's network is told of no address.
  replica::v1::GoogleFront front = MakeManifest(settings, record, 0, 1).google_front();
  EXPECT_EQ(front.address(), "");
  EXPECT_EQ(front.host_names_size(), 1);
  settings.google_front->set_address("127.64.1.2");
  EXPECT_EQ(MakeManifest(settings, record, 0, 1).google_front().host_names_size(), 1);
  settings.front_metadata = true;
  front = MakeManifest(settings, record, 0, 1).google_front();
  EXPECT_EQ(front.address(), "127.64.1.2");
  EXPECT_EQ(front.host_names(1), "metadata.google.internal");
  EXPECT_EQ(AttemptOfHost(settings.keys, front.host_names(2)), "12-worker-replica-3-1");
  // A network of its own has the front on its own loopback, whatever the machine's ports are.
  record.mutable_replicas(0)->mutable_endpoint()->set_port(kIsolatedPort);
  settings.google_front->clear_address();
  settings.front_metadata = false;
  front = MakeManifest(settings, record, 0, 1).google_front();
  EXPECT_EQ(front.address(), "127.0.0.1");
  EXPECT_EQ(front.host_names_size(), 3);
}

TEST(AttemptId, IsReadBack) {
  const AttemptName name{.job_uid = 12, .task_name = "worker-replica-3", .attempt = 2};
  EXPECT_EQ(ParseAttemptId(AttemptId(MakeRecord(), 0, 2)), name);
}

class NoAttemptId : public testing::TestWithParam<const char*> {};
TEST_P(NoAttemptId, IsRefused) { EXPECT_FALSE(ParseAttemptId(GetParam())); }
INSTANTIATE_TEST_SUITE_P(Texts, NoAttemptId,
                         testing::Values("", "-", "--", "1-2", "1--2", "x-master-replica-0-1",
                                         "1-master-replica-0-", "1-master-replica-0-x",
                                         "-1-master-replica-0-1", "0-master-replica-0-1",
                                         "1-master-replica-0-0", "1-master-replica-0-99999999999",
                                         "99999999999999999999-m-1", "lost+found", ".", ".."));

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

TEST(ListAttemptFolders, WithoutTheFolderThereAreNone) {
  EXPECT_EQ(ListAttemptFolders({.attempts_dir = "/nonexistent"}), std::vector<std::string>());
  EXPECT_FALSE(ListAttemptFolders({.attempts_dir = "/dev/null"}));
}

}  // namespace
}  // namespace trainyard::control
