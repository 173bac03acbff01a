#include "engine/local/node_settings.h"

#include <gmock/gmock.h>

#include "engine/local/machine_limits.h"

namespace trainyard::engine {
namespace {

using replica::v1::Manifest;
using replica::v1::Slot;

Manifest Order() {
  Manifest order;
  order.set_attempt_id("12-worker-replica-3-2");
  order.set_job_uid(12);
  order.set_metadata_host_name("attempt.metadata");
  return order;
}

NodeSettings Settings() {
  return {.attempts_dir = "/d/attempts",
          .environments_dir = "/d/environments",
          .images_dir = "/d/images",
          .attach_socket = "/d/attach.sock",
          .replica_socket = "/d/replica.sock",
          .container_runtime_address = ""};
}

Slot MakeSlot(Manifest::Network network) {
  Slot slot;
  slot.set_network(network);
  slot.set_address("127.1.0.1");
  slot.set_port(20'000);
  return slot;
}

Manifest With(const NodeSettings& settings, const Slot& slot, Manifest order = Order()) {
  AddNodePart(settings, slot, order);
  return order;
}

TEST(AddNodePart, PlacesAndNetworkComeFromTheNodeAndTheSlot) {
  const Manifest manifest = With(Settings(), MakeSlot(Manifest::HOST));
  EXPECT_EQ(manifest.places().attempt_dir(), "/d/attempts/12-worker-replica-3-2");
  EXPECT_EQ(manifest.places().environments_dir(), "/d/environments");
  EXPECT_EQ(manifest.places().images_dir(), "/d/images");
  EXPECT_EQ(manifest.places().attach_socket(), "/d/attach.sock");
  EXPECT_EQ(manifest.places().replica_socket(), "/d/replica.sock");
  EXPECT_EQ(manifest.network(), Manifest::HOST);
  EXPECT_EQ(manifest.address(), "127.1.0.1");
  EXPECT_EQ(manifest.port(), 20'000);
  EXPECT_FALSE(manifest.has_devices());
  EXPECT_FALSE(manifest.has_users());
}

TEST(AddNodePart, TheOperatorsFoldersAreHidden) {
  NodeSettings settings = Settings();
  settings.hidden_dirs = {"/backup"};
  EXPECT_THAT(With(settings, MakeSlot(Manifest::HOST)).places().hidden_dirs(),
              testing::ElementsAre("/backup"));
}

TEST(AddNodePart, OnlyAnIsolatedReplicaHasARelay) {
  NodeSettings settings = Settings();
  settings.relay_port = 8472;
  EXPECT_EQ(With(settings, MakeSlot(Manifest::HOST)).places().relay_port(), 0);
  EXPECT_EQ(With(settings, MakeSlot(Manifest::ISOLATED)).places().relay_port(), 8472);
}

TEST(AddNodePart, OnlyRealDevicesAreDevices) {
  Slot slot = MakeSlot(Manifest::HOST);
  slot.mutable_devices();
  EXPECT_FALSE(With(Settings(), slot).has_devices()) << "of a replica without accelerators";
  slot.mutable_devices()->set_accelerator_type("NVIDIA_TESLA_T4");
  slot.mutable_devices()->add_gpus("0");
  EXPECT_THAT(With(Settings(), slot).devices().gpus(), testing::ElementsAre("0"));
}

TEST(AddNodePart, ADiskLimitBeyondTheDiskIsNone) {
  NodeSettings settings = Settings();
  Manifest order = Order();
  order.mutable_program()->mutable_container();
  order.mutable_limits()->set_disk_bytes(100);
  EXPECT_EQ(With(settings, {}, order).limits().disk_bytes(), 100) << "how large the disk is is not known";
  settings.disk_bytes = 101;
  EXPECT_EQ(With(settings, {}, order).limits().disk_bytes(), 100);
  settings.disk_bytes = 100;
  EXPECT_EQ(With(settings, {}, order).limits().disk_bytes(), 0);
}

TEST(AddNodePart, AJobHasABlockOfUsers) {
  NodeSettings settings = Settings();
  settings.job_users = JobUsers{.first = 1'000'000, .count = 100'000'000};
  const auto users = With(settings, {}).users();
  EXPECT_EQ(users.SerializeAsString(), BlockOf(*settings.job_users, 12).SerializeAsString());
}

TEST(AddNodePart, TheMetadataServerIsNamedWhereItCanBeReached) {
  NodeSettings settings = Settings();
  settings.google_front.emplace();
  settings.google_front->add_host_names("storage.googleapis.com");
  EXPECT_EQ(With(settings, MakeSlot(Manifest::HOST)).google_front().host_names_size(), 1) << "no address";
  settings.google_front->set_address("127.0.0.9");
  EXPECT_EQ(With(settings, MakeSlot(Manifest::HOST)).google_front().host_names_size(), 1) << "no port 80";
  const auto isolated = With(settings, MakeSlot(Manifest::ISOLATED)).google_front();
  EXPECT_EQ(isolated.address(), "127.0.0.1");
  settings.front_metadata = true;
  const auto named = With(settings, MakeSlot(Manifest::HOST)).google_front().host_names();
  EXPECT_THAT(named, testing::ElementsAre("storage.googleapis.com", "metadata.google.internal", "metadata",
                                          "attempt.metadata"));
  EXPECT_THAT(isolated.host_names(), testing::ElementsAreArray(named));
}

TEST(AddNodePart, DoorsAreForWhatRunsBelowTheSupervisor) {
  NodeSettings settings = Settings();
  settings.google_front.emplace();
  settings.google_front->set_address("127.0.0.9");
  settings.google_front->set_tls_port(12'000);
  settings.google_front->set_plain_port(12'001);
  EXPECT_EQ(With(settings, MakeSlot(Manifest::HOST)).google_front().tls_port(), 12'000);
  const auto isolated = With(settings, MakeSlot(Manifest::ISOLATED)).google_front();
  EXPECT_EQ(isolated.tls_port() + isolated.plain_port(), 0) << "its own loopback has Google's ports";
  Manifest order = Order();
  order.mutable_program()->mutable_container();
  settings.container_runtime = Manifest::OCI_RUNTIME;
  EXPECT_EQ(With(settings, MakeSlot(Manifest::HOST), order).google_front().address(), "127.0.0.9");
  settings.container_runtime = Manifest::CONTAINER_DAEMON;
  EXPECT_EQ(With(settings, MakeSlot(Manifest::HOST), order).google_front().address(), "");
}

TEST(AddCgroupPart, LimitsTheMemoryOfAReplicaWithoutALimit) {
  constexpr std::int64_t kMost = std::int64_t{14} << 30;
  const auto limit_of = [](std::int64_t own, int version) {
    Manifest manifest = Order();
    manifest.mutable_limits()->set_memory_bytes(own);
    AddCgroupPart(kMost, {.version = version, .group = "/g"}, manifest);
    EXPECT_EQ(manifest.places().cgroup_version(), version);
    EXPECT_EQ(manifest.places().cgroup(), "/g");
    return manifest.limits().memory_bytes();
  };
  EXPECT_EQ(limit_of(0, 2), kMost);
  EXPECT_EQ(limit_of(1 << 20, 2), 1 << 20);
  EXPECT_EQ(limit_of(0, 1), 0);
}

TEST(DescribeReplicaMemory, SaysWhatIsLimitedHere) {
  constexpr std::int64_t kMachine = std::int64_t{16} << 30;
  MachineLimits limits{.cgroup_version = 2, .limits = {{.what = "memory", .works = true}}};
  EXPECT_EQ(DescribeReplicaMemory(limits, kMachine),
            "a replica may use 14336 of this machine's 16384 MiB of memory");
  constexpr const char* kAll =
      "a replica may use all memory of this machine: the default limit needs cgroups of version 2 that limit "
      "memory";
  limits.limits.front().works = false;
  EXPECT_EQ(DescribeReplicaMemory(limits, kMachine), kAll);
  limits = {.cgroup_version = 1, .limits = {{.what = "memory", .works = true}}};
  EXPECT_EQ(DescribeReplicaMemory(limits, kMachine), kAll);
}

}  // namespace
}  // namespace trainyard::engine
