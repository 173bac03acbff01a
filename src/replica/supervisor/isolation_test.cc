#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/async/file.h"
#include "programs/sandbox/network/replica_network.h"
#include "programs/sandbox/testing/ordinary_user.h"
#include "replica/supervisor/testing/attempt_fixture.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// What a replica can and cannot see. Row 0: namespaces created by root; row 1: inside a user namespace.
class IsolationTest : public AttemptFixture, public testing::WithParamInterface<int> {
 protected:
  IsolationTest() { options_ = {"--isolation=" + std::to_string(GetParam())}; }
  std::vector<std::string> RunScript(const std::string& script) {
    Program(script);
    Run();
    EXPECT_EQ(Finish().exit_code(), 0);
    return UserLines();
  }
};

TEST_P(IsolationTest, HasATmpOfItsOwn) {
  const std::string marker = "/tmp/trainyard-test-" + std::to_string(getpid());
  EXPECT_THAT(
      RunScript("ls -A /tmp | grep -v -e ^trainyard- -e ^hypertune; touch " + marker + "; ls -d " + marker),
      ElementsAre("INFO " + marker));
  EXPECT_FALSE(fs::exists(marker));
  EXPECT_TRUE(fs::exists(dir_.Tmp() + marker.substr(4)));
}

TEST_P(IsolationTest, WorksInAFreshWritableFolder) {
  EXPECT_THAT(RunScript("pwd; ls -A; touch a && ls; cd && pwd"),
              ElementsAre("INFO " + dir_.Work(), "INFO a", "INFO " + dir_.Home()));
}

TEST_P(IsolationTest, ResolvesTheHostNamesOfTheCluster) {
  EXPECT_THAT(RunScript("uname -n; getent hosts " + manifest_.host_name() + " | tr -s ' '"),
              ElementsAre("INFO " + manifest_.host_name(), "INFO 127.77.0.1 " + manifest_.host_name()));
}

TEST_P(IsolationTest, SeesNoProcessButItsOwn) {
  const std::vector<std::string> lines =
      RunScript("for p in /proc/[0-9]*; do echo ${p#/proc/}; done; echo self $$");
  EXPECT_THAT(lines, ElementsAre("INFO 1", "INFO 2", "INFO self 2"));
}

TEST_P(IsolationTest, SeesNothingOfItsNeighbours) {
  fs::create_directories(folder_.path() + "/attempts/neighbour");
  EXPECT_THAT(RunScript("ls " + folder_.path() + "/attempts; ls " + dir_.path),
              ElementsAre("INFO 7-master-replica-0-1", "INFO home", "INFO work"));
}

TEST_P(IsolationTest, SeesNothingElseOfTheDataDirectory) {
  fs::create_directories(folder_.path() + "/run");
  std::ofstream(folder_.path() + "/run/secret") << "secret";
  EXPECT_THAT(RunScript("ls " + folder_.path()), ElementsAre("INFO attempts", "INFO environments"));
}

TEST_P(IsolationTest, SeesNothingInTheFolderOfBackups) {
  std::string backups = "/var/tmp/trainyard-backups-XXXXXX";  // /tmp is not the machine's in a replica
  ASSERT_NE(mkdtemp(backups.data()), nullptr);
  std::ofstream(backups + "/access.db") << "everything";
  manifest_.mutable_places()->add_hidden_dirs(backups);
  manifest_.mutable_places()->add_hidden_dirs("/var/tmp/trainyard-backups-not-there");
  EXPECT_THAT(RunScript("ls -A " + backups + "; ls -d " + backups), ElementsAre("INFO " + backups));
  EXPECT_TRUE(fs::remove(backups + "/access.db")) << "it is there outside";
  EXPECT_TRUE(fs::remove(backups));
}

TEST_P(IsolationTest, CannotChangeTheMachine) {
  EXPECT_THAT(RunScript("umount -l " + folder_.path() +
                        "/attempts 2>/dev/null || echo mounts stay\n"
                        "(cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern) 2>/dev/null || "
                        "echo settings stay\n"
                        "find /sys/fs/cgroup -maxdepth 2 -name cgroup.procs -writable | wc -l\n"
                        "mknod /tmp/full c 1 7 2>/dev/null || echo no devices\n"),
              ElementsAre("INFO mounts stay", "INFO settings stay", "INFO 0", "INFO no devices"));
}

TEST_P(IsolationTest, CannotWriteIntoTheEnvironments) {
  EXPECT_THAT(RunScript("touch " + folder_.path() +
                        "/environments/rt/x 2>&1 | grep -o 'Read-only file system'; [ -e " + folder_.path() +
                        "/environments/rt/bin/python ]"),
              ElementsAre("INFO Read-only file system"));
}

TEST_P(IsolationTest, SharedMemoryIsGoneAfterwards) {
  const std::string marker = "/dev/shm/trainyard-test-" + std::to_string(getpid());
  EXPECT_THAT(RunScript("echo x > " + marker + "; ls " + marker), ElementsAre("INFO " + marker));
  EXPECT_FALSE(fs::exists(marker));
}

TEST_P(IsolationTest, HoldsNoDescriptorOfOthers) {
  EXPECT_THAT(RunScript("for f in /proc/$$/fd/*; do echo ${f##*/}; done | sort -n | tr '\\n' ' '"),
              Contains(HasSubstr("INFO 0 1 2 ")));
  for (const std::string& line : UserLines()) EXPECT_THAT(line, testing::Not(HasSubstr(" 3 4 5 6")));
}

TEST_P(IsolationTest, FindsTheFrontUnderGooglesNames) {
  const std::string bundle = folder_.path() + "/front/ca-bundle.pem";
  fs::create_directories(folder_.path() + "/front");
  fs::create_directories(folder_.path() + "/buckets/models");
  std::ofstream(bundle) << "authorities\n";
  v1::GoogleFront& front = *manifest_.mutable_google_front();
  front.set_address("127.64.1.2");
  front.add_host_names("storage.googleapis.com");
  front.set_ca_bundle(bundle);
  front.set_buckets_dir(folder_.path() + "/buckets");
  EXPECT_THAT(RunScript("getent hosts storage.googleapis.com | tr -s ' '\n"
                        "[ ! -e /etc/ssl/certs/ca-certificates.crt ] || cat "
                        "/etc/ssl/certs/ca-certificates.crt $SSL_CERT_FILE\n"
                        "(echo x > $SSL_CERT_FILE) 2>&1 | grep -o 'Read-only file system'\n"
                        "echo x > /gcs/models/file; ls /gcs\n"),
              testing::IsSupersetOf({"INFO 127.64.1.2 storage.googleapis.com", "INFO authorities",
                                     "INFO Read-only file system", "INFO models"}));
  EXPECT_EQ(ReadFile(bundle), "authorities\n");
  EXPECT_TRUE(fs::exists(folder_.path() + "/buckets/models/file"));
  EXPECT_FALSE(fs::exists("/gcs/models"));
}

TEST_P(IsolationTest, FindsTheFrontBehindADoor) {
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ASSERT_EQ(inet_pton(AF_INET, "127.64.1.2", &address.sin_addr), 1);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string bundle = folder_.path() + "/front/ca-bundle.pem";
  fs::create_directories(folder_.path() + "/front");
  std::ofstream(bundle) << "authorities\n";
  v1::GoogleFront& front = *manifest_.mutable_google_front();
  front.set_address("127.64.1.2");
  front.add_host_names("storage.googleapis.com");
  front.set_ca_bundle(bundle);
  front.set_tls_port(ntohs(address.sin_port));
  PythonProgram(
      "import socket\n"
      "there = socket.create_connection(('storage.googleapis.com', 443), 20)\n"
      "print(there.getpeername()[1])\n");
  Run();
  EXPECT_EQ(Finish().exit_code(), 0);
  EXPECT_THAT(UserLines(), ElementsAre("INFO " + std::to_string(ntohs(address.sin_port))));
}

INSTANTIATE_TEST_SUITE_P(Isolations, IsolationTest, testing::Values(0, 1),
                         [](const auto& row) { return row.param == 0 ? "namespaces" : "user_namespaces"; });

class IsolatedNetworkTest : public AttemptFixture {
 protected:
  void SetUp() override {
    if (const Status possible = CheckIsolatedNetworks(); !possible) GTEST_SKIP() << possible.error().message;
    manifest_.set_network(v1::Manifest::ISOLATED);
    manifest_.set_address("10.77.1.1");
    manifest_.set_port(2222);
    manifest_.mutable_places()->set_relay_port(8470);
  }
};

TEST_F(IsolatedNetworkTest, HasItsAddressAndNoRouteOut) {
  PythonProgram(
      "import socket\n"
      "print(sorted(name for _, name in socket.if_nameindex() if name in ('eth0', 'lo')))\n"
      "a = socket.create_server(('10.77.1.1', 2222))\n"
      "socket.create_connection(('127.0.0.1', 8470)).close()\n"
      "try: socket.create_connection(('192.0.2.1', 80), 1)\n"
      "except OSError as error: print(error.strerror)\n");
  Run();
  EXPECT_EQ(Finish().exit_code(), 0);
  std::vector<std::string> lines = UserLines();
  // An ordinary user gets a warning that the memory is not counted.
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("WARNING "); });
  EXPECT_THAT(lines, ElementsAre("INFO ['eth0', 'lo']", "INFO Network is unreachable"));
}

TEST_F(IsolatedNetworkTest, TheRelayEndsWithAKilledSupervisor) {
  Program("sleep 1000");
  Run();
  pid_t relay = 0;
  std::ifstream(dir_.Relay()) >> relay;
  ASSERT_TRUE(IsRunning(relay));
  kill(supervisor_, SIGKILL);
  waitpid(supervisor_, nullptr, 0);
  supervisor_ = -1;
  while (IsLocked(dir_).value_or(true)) sched_yield();  // the relay has the lock, too
  EXPECT_TRUE(WaitUntilGone(relay));
}

TEST_F(IsolatedNetworkTest, DoesNotRunWithLess) {
  manifest_.set_address("not an address");
  Program("echo ran");
  StartServer();
  StartSupervisor();
  ASSERT_TRUE(WaitForPhase(v1::READY));
  v1::ToReplica frame;
  *frame.mutable_cluster() = cluster_;
  server_->Send(frame);
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::PREPARATION_FAILED);
  EXPECT_THAT(exit.message(), HasSubstr("cannot make its network: 'not an address' is not an IPv4 address"));
}

TEST(IsolatedNetworkOfOrdinaryUserTest, IsTheSame) {
  if (geteuid() != 0) GTEST_SKIP() << "the other tests are this test for an ordinary user";
  if (!AskAsOrdinaryUser([] { return CheckIsolatedNetworks().has_value(); }))
    GTEST_SKIP() << "users may not have networks of their own here";
  EXPECT_TRUE(PassAsOrdinaryUser("IsolatedNetworkTest.*"));
}

/// The isolation that a machine was found to support is required: if it fails for a program, that is not
/// started.
class RequiredIsolationTest : public AttemptFixture {
 protected:
  v1::ExitRecord RunToItsRefusal(v1::ExitRecord::Cause cause = v1::ExitRecord::PREPARATION_FAILED) {
    Program("echo it ran");
    StartServer();
    StartSupervisor(options_);
    EXPECT_TRUE(WaitForPhase(v1::READY));
    v1::ToReplica frame;
    *frame.mutable_cluster() = cluster_;
    server_->Send(frame);
    const v1::ExitRecord exit = Finish();
    EXPECT_EQ(exit.cause(), cause);
    EXPECT_THAT(UserLines(), testing::Not(Contains(HasSubstr("it ran"))));
    return exit;
  }
};

TEST_F(RequiredIsolationTest, WithoutAPlaceForItsBucketsNothingRuns) {
  fs::create_directories(folder_.path() + "/buckets/models");
  manifest_.mutable_google_front()->set_buckets_dir(folder_.path() + "/buckets");
  manifest_.mutable_buckets()->add_buckets()->set_name("models");
  std::ofstream(dir_.path + "/gcs") << "in the way, as a full disk is";
  EXPECT_THAT(RunToItsRefusal().message(), HasSubstr("mkdir " + dir_.path + "/gcs"));
}

TEST_F(RequiredIsolationTest, WithoutItsViewNothingRuns) {
  manifest_.mutable_google_front()->set_buckets_dir(folder_.path() + "/gone");
  EXPECT_THAT(RunToItsRefusal(v1::ExitRecord::LOST).message(),
              HasSubstr("the program was not started, because it could not be isolated (open_tree: "));
}

TEST_F(RequiredIsolationTest, WithoutItsGroupNothingRuns) {
  manifest_.mutable_places()->set_cgroup_version(2);
  manifest_.mutable_places()->set_cgroup(folder_.path() + "/gone");
  manifest_.mutable_limits()->set_memory_bytes(64 << 20);
  EXPECT_THAT(RunToItsRefusal().message(), HasSubstr("mkdir " + folder_.path() + "/gone/"));
}

TEST_F(RequiredIsolationTest, WhatTheMachineWasFoundToAllowIsWhatThereIs) {
  v1::Manifest::Isolation& found = *manifest_.mutable_places()->mutable_program_isolation();
  found.set_kind(v1::Manifest::Isolation::NONE);
  found.set_reason("clone: Operation not permitted");
  Program("echo \"[$TMPDIR]\"");
  Run();
  EXPECT_EQ(Finish().exit_code(), 0);
  EXPECT_THAT(UserLines(), ElementsAre("INFO [" + dir_.Tmp() + "]"));
  EXPECT_THAT(Lines(), Contains(testing::StartsWith("WARNING This machine lacks some isolation (clone: ")));
}

class DegradedTest : public AttemptFixture {};

TEST_F(DegradedTest, WithoutNamespacesSaysHowTheBucketsAreReached) {
  options_ = {"--isolation=3"};
  manifest_.mutable_google_front()->set_address("127.64.1.2");
  Program("echo \"[$CURL_CA_BUNDLE]\"");
  Run();
  EXPECT_EQ(Finish().exit_code(), 0);
  EXPECT_THAT(UserLines(), ElementsAre("INFO []"));
  EXPECT_THAT(Lines(),
              Contains(HasSubstr("WARNING gs:// works here for google-cloud-storage, gcsfs, pandas")));
}

TEST_F(DegradedTest, WithoutNamespacesSaysSoAndNamesHostsByAddress) {
  options_ = {"--isolation=3"};
  v1::Endpoint& worker = *cluster_.add_endpoints();
  worker.mutable_replica()->set_type(v1::WORKER);
  worker.set_host_name("cmle-training-worker-0123456789-0");
  worker.set_address("127.77.0.2");
  worker.set_port(20'002);
  Program("echo config $TF_CONFIG; echo $TMPDIR; pwd");
  Run();
  Finish();
  EXPECT_THAT(Lines(), Contains(testing::StartsWith("WARNING This machine lacks some isolation")));
  const std::vector<std::string> lines = UserLines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0], HasSubstr("127.77.0.2:20002"));
  EXPECT_EQ(lines[1], "INFO " + dir_.Tmp());
  EXPECT_EQ(lines[2], "INFO " + dir_.Work());
}

TEST_F(DegradedTest, OutOfMemoryIsToldFromAKill) {
  if (manifest_.places().cgroup_version() == 0) GTEST_SKIP() << "no groups without a server here";
  manifest_.mutable_limits()->set_memory_bytes(64 << 20);
  PythonProgram("x = bytearray(200 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1\n");
  Run();
  const v1::ExitRecord exit = Finish();
  if (testing::Test::HasFailure()) return;
  EXPECT_EQ(exit.cause(), v1::ExitRecord::OUT_OF_MEMORY);
  EXPECT_EQ(exit.signal(), 9);
  EXPECT_THAT(exit.message(), HasSubstr("64 MiB"));
  EXPECT_EQ(exit.memory_limit_bytes(), 64 << 20);
  EXPECT_GE(exit.memory_peak_bytes(), 60 << 20);
  EXPECT_EQ(exit.diagnosis().name(), "out_of_memory");
  EXPECT_THAT(exit.diagnosis().summary(),
              HasSubstr("more than the 64 MiB of memory that it may use (it had used up to 6"));
}

TEST_F(DegradedTest, AnOrdinaryUserRunsInAUserNamespace) {
  if (geteuid() != 0) GTEST_SKIP() << "the other tests are this test for an ordinary user";
  // The directory belongs to root: everything in it is given to the program's user, and the path to it is
  // opened.
  Program("id -u; uname -n; echo $TMPDIR");
  ASSERT_TRUE(WriteManifest(dir_, manifest_).has_value());
  constexpr uid_t kNobody = 65534;
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
    ASSERT_EQ(chown(entry.path().c_str(), kNobody, kNobody), 0);
  }
  ASSERT_EQ(chown(folder_.path().c_str(), kNobody, kNobody), 0);
  const std::string copy = folder_.path() + "/supervisor";
  fs::copy_file("/proc/self/exe", copy);
  fs::permissions(
      copy, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec | fs::perms::others_read);
  StartServer();
  ASSERT_EQ(chown(manifest_.places().attach_socket().c_str(), kNobody, kNobody), 0);
  supervisor_ = fork();
  if (supervisor_ == 0) {
    if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(1);
    execl(copy.c_str(), "trainyard", "replica", dir_.path.c_str(), nullptr);
    _exit(1);
  }
  ASSERT_TRUE(WaitForPhase(v1::READY));
  OpenBarrier();
  const v1::ExitRecord exit = WaitForExit();
  EXPECT_EQ(exit.exit_code(), 0);
  std::vector<std::string> lines = UserLines();
  // On a busy machine it runs long enough to get the warning that its memory is not counted.
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("WARNING "); });
  EXPECT_THAT(lines, ElementsAre("INFO 65534", "INFO " + manifest_.host_name(), "INFO /tmp"));
  Dismiss();
  int status = 0;
  waitpid(supervisor_, &status, 0);
  EXPECT_EQ(status, 0);
  supervisor_ = -1;
}

}  // namespace
}  // namespace trainyard::replica
