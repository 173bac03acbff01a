#include "control/manifest.h"

#include <gtest/gtest.h>

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
                         .server_socket = "/d/run/server.sock",
                         .secret = "s",
                         .stop_grace = std::chrono::seconds(7)};

TEST(Manifest, SaysWhatAReplicaNeeds) {
  const replica::v1::Manifest manifest = MakeManifest(kSettings, MakeRecord(), 0, 2);
  EXPECT_EQ(manifest.attempt_id(), "12-worker-replica-3-2");
  EXPECT_EQ(manifest.task_name(), "worker-replica-3");
  EXPECT_EQ(manifest.places().attempt_dir(), "/d/attempts/12-worker-replica-3-2");
  EXPECT_EQ(manifest.limits().stop_grace_ms(), 7000);
  EXPECT_EQ(manifest.port(), 20001);
  EXPECT_EQ(manifest.program().args_size(), 3);
  EXPECT_EQ(manifest.program().args(1), "--job-dir");
  EXPECT_EQ(manifest.SerializeAsString(), MakeManifest(kSettings, MakeRecord(), 0, 2).SerializeAsString());
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
  EXPECT_EQ(AttemptOfHost(settings, front.host_names(2)), "12-worker-replica-3-1");
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
  other.secret = "t";
  EXPECT_FALSE(IsAttemptToken(other, "1-a-1", token));
}

TEST(ListAttemptFolders, WithoutTheFolderThereAreNone) {
  EXPECT_EQ(ListAttemptFolders({.attempts_dir = "/nonexistent"}), std::vector<std::string>());
  EXPECT_FALSE(ListAttemptFolders({.attempts_dir = "/dev/null"}));
}

}  // namespace
}  // namespace trainyard::control
