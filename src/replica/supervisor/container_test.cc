#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/async/file.h"
#include "programs/attempt/init_note.h"
#include "programs/runtimes/oci_container.h"
#include "programs/sandbox/cgroups/cgroup.h"
#include "programs/sandbox/cgroups/proc_figures.h"
#include "programs/sandbox/namespaces/disk_image.h"
#include "replica/supervisor/testing/attempt_fixture.h"
#include "replica/supervisor/testing/test_image.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

struct Way {
  const char* runtime;
  int isolation;  ///< 0: root on the machine; 1: a user namespace
};

/// Real containers under a real supervisor, with crun and runc, as root and in a user namespace.
class ContainerFixture : public AttemptFixture {
 protected:
  explicit ContainerFixture(Way way) : way_(way), image_(folder_.path() + "/images", "sha256:0123") {
    options_ = {"--isolation=" + std::to_string(way_.isolation)};
    manifest_.mutable_places()->set_images_dir(folder_.path() + "/images");
    v1::Manifest::Program& program = *manifest_.mutable_program();
    program.clear_runtime_version();
    program.clear_python_module();
    program.mutable_container()->set_image("gcr.io/p/trainer:v1");
    program.mutable_container()->set_digest("sha256:0123");
    program.mutable_container()->set_runtime_kind(v1::Manifest::OCI_RUNTIME);
    program.mutable_container()->set_runtime_address(FindTool(way_.runtime));
  }

  void SetUp() override {
    if (FindTool(way_.runtime).empty()) GTEST_SKIP() << way_.runtime << " is not installed";
  }

  void Script(const std::string& script) {
    image_.AddFile(0, "/script", "#!/bin/sh\n" + script + "\n", true);
    image_.config.entrypoint = {"/script"};
  }
  v1::ExitRecord RunImage() {
    image_.Write();
    Run();
    return Finish();
  }
  /// Runs the script and returns its output.
  std::vector<std::string> RunScript(const std::string& script) {
    Script(script);
    EXPECT_EQ(RunImage().exit_code(), 0);
    return UserLines();
  }

  Way way_;
  TestImage image_;
};

class ContainerTest : public ContainerFixture, public testing::WithParamInterface<Way> {
 protected:
  ContainerTest() : ContainerFixture(GetParam()) {}
};

TEST_P(ContainerTest, RunsTheImagesProgram) {
  image_.config.entrypoint = {"/bin/echo", "entry"};
  image_.config.command = {"cmd"};
  manifest_.mutable_program()->mutable_container()->add_service_args("--job-dir");
  const v1::ExitRecord exit = RunImage();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::EXITED);
  EXPECT_EQ(exit.exit_code(), 0);
  EXPECT_THAT(UserLines(), ElementsAre("INFO entry cmd --job-dir"));
  EXPECT_THAT(Lines(), Contains("INFO Running the image gcr.io/p/trainer:v1 (sha256:0123)."));
  EXPECT_THAT(Lines(), Contains("INFO Running command: /bin/echo entry cmd --job-dir"));
  EXPECT_THAT(Lines(), Contains("INFO Task completed successfully."));
}

TEST_P(ContainerTest, TheJobsCommandReplacesEntrypointAndCmd) {
  image_.config.entrypoint = {"/bin/false"};
  image_.config.command = {"cmd"};
  manifest_.mutable_program()->mutable_container()->add_command("echo");
  manifest_.mutable_program()->mutable_container()->add_args("a b");
  EXPECT_EQ(RunImage().exit_code(), 0);
  EXPECT_THAT(UserLines(), ElementsAre("INFO a b"));
}

TEST_P(ContainerTest, ExitCodeOfTheMainProcessDecides) {
  Script("sleep 1000 & echo oops >&2; exit 3");
  const v1::ExitRecord exit = RunImage();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::EXITED);
  EXPECT_EQ(exit.exit_code(), 3);
  EXPECT_THAT(Lines(), Contains("ERROR oops"));
  EXPECT_THAT(Lines(), Contains("ERROR Command '['/script']' returned non-zero exit status 3"));
}

TEST_P(ContainerTest, HasTheImagesVariablesAndTheReplicas) {
  image_.config.environment = {"FROM_IMAGE=yes", "PATH=/opt/bin:/bin", "HOSTNAME=wrong", "LONG=a=b"};
  manifest_.set_job_json("{\"scale_tier\": \"CUSTOM\"}");
  (*manifest_.mutable_environment())["FROM_SERVER"] = "1";
  const std::vector<std::string> lines = RunScript("env; hostname; echo started by $PPID");
  for (const char* line :
       {"INFO FROM_IMAGE=yes", "INFO PATH=/opt/bin:/bin", "INFO LONG=a=b", "INFO FROM_SERVER=1",
        "INFO HOME=/root", "INFO HOSTNAME=cmle-training-master-0123456789-0",
        "INFO cmle-training-master-0123456789-0", "INFO CLOUD_ML_JOB_ID=census", "INFO MASTER_ADDR=127.0.0.1",
        "INFO started by 1"}) {
    EXPECT_THAT(lines, Contains(line));
  }
  EXPECT_THAT(lines, Contains(HasSubstr(R"("job": "{\"scale_tier\": \"CUSTOM\"}")")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("LEAKED_FROM_SERVER"))));
}

TEST_P(ContainerTest, IsTheImagesUserInItsFolder) {
  image_.config.user = "bob";
  image_.config.working_dir = "/made/for/it";
  EXPECT_THAT(RunScript("id -u; id -g; id -G; pwd; echo $HOME; echo x 2>/dev/null >/bin/x || echo refused; "
                        "echo y > /tmp/y; "
                        "cat /tmp/y; echo error >/dev/stderr; grep CapEff /proc/self/status"),
              testing::UnorderedElementsAre("INFO 1000", "INFO 1000", "INFO 1000 44", "INFO /made/for/it",
                                            "INFO /home/bob", "INFO refused", "INFO y", "ERROR error",
                                            "INFO CapEff:\t0000000000000000"));
}

TEST_P(ContainerTest, SeesNothingOfTheMachine) {
  const std::vector<std::string> lines = RunScript(
      "ls /; ls -d " + folder_.path() +
      " 2>/dev/null; ls /dev; ps | grep -v ' ps\\| grep\\|PID' | wc -l; "
      "mount -t tmpfs x /root 2>/dev/null && echo mounted; mknod /tmp/full c 1 7 2>/dev/null && echo made; "
      "(echo 1 > /proc/sys/kernel/panic) 2>/dev/null && echo changed; "
      "for c in /sys/fs/cgroup/memory /sys/fs/cgroup; do mknod $c/x p 2>/dev/null && echo changed; done; "
      "true");
  for (const char* line : {"INFO mounted", "INFO made", "INFO changed"})
    EXPECT_THAT(lines, Not(Contains(line)));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("trainyard-"))));
  for (const char* line : {"INFO null", "INFO shm", "INFO urandom", "INFO pts"})
    EXPECT_THAT(lines, Contains(line));
  EXPECT_THAT(lines, Not(Contains("INFO loop0")));
}

TEST_P(ContainerTest, LeavesTheImageAsItIs) {
  Script("echo new > /bin/added; echo changed > /etc/passwd; true > /tmp/x; cat /etc/passwd");
  EXPECT_EQ(RunImage().exit_code(), 0);
  EXPECT_THAT(UserLines(), ElementsAre("INFO changed"));
  EXPECT_FALSE(fs::exists(image_.Layer(0) + "/bin/added"));
  EXPECT_THAT(*ReadFile(image_.Layer(0) + "/etc/passwd"), HasSubstr("root:x:0"));
  EXPECT_FALSE(fs::exists("/bin/added"));
}

TEST_P(ContainerTest, ResolvesTheClusterAndTheFront) {
  fs::create_directories(folder_.path() + "/front");
  fs::create_directories(folder_.path() + "/buckets/models");
  std::ofstream(folder_.path() + "/front/ca-bundle.pem") << "authorities\n";
  v1::GoogleFront& front = *manifest_.mutable_google_front();
  front.set_address("127.64.1.2");
  front.add_host_names("storage.googleapis.com");
  front.set_ca_bundle(folder_.path() + "/front/ca-bundle.pem");
  front.set_buckets_dir(folder_.path() + "/buckets");
  image_.AddFile(0, "/etc/pki/tls/certs/ca-bundle.crt", "of the image\n");
  const std::vector<std::string> lines = RunScript(
      "grep googleapis /etc/hosts; grep cmle /etc/hosts; cat /etc/pki/tls/certs/ca-bundle.crt "
      "$SSL_CERT_FILE; "
      "(echo x > $SSL_CERT_FILE) 2>/dev/null || echo read only; echo model > /gcs/models/file");
  EXPECT_THAT(lines, ElementsAre("INFO 127.64.1.2\tstorage.googleapis.com",
                                 "INFO 127.77.0.1\tcmle-training-master-0123456789-0", "INFO authorities",
                                 "INFO authorities", "INFO read only"));
  EXPECT_EQ(ReadFile(folder_.path() + "/buckets/models/file"), "model\n");
}

TEST_P(ContainerTest, SharedMemoryIsAsBigAsAskedFor) {
  manifest_.mutable_limits()->set_shared_memory_bytes(8 << 20);
  EXPECT_THAT(RunScript("df -k /dev/shm | awk 'NR==2 {print $2}'"), ElementsAre("INFO 8192"));
}

TEST_P(ContainerTest, SharedMemoryIsHalfOfTheMemory) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root for a cgroup";
  manifest_.mutable_limits()->set_memory_bytes(std::int64_t{128} << 20);
  EXPECT_THAT(RunScript("df -k /dev/shm | awk 'NR==2 {print $2}'"), ElementsAre("INFO 65536"));
}

TEST_P(ContainerTest, TakesFortyLayers) {
  for (int layer = 1; layer < 40; ++layer) {
    image_.AddFile(layer, "/layers/" + std::to_string(layer), "x");
    image_.AddFile(layer, "/top", std::to_string(layer) + "\n");
  }
  image_.AddWhiteout(39, "/layers/7");
  EXPECT_THAT(RunScript("ls /layers | wc -l; cat /top; cat /layers/7 2>/dev/null || echo gone"),
              ElementsAre("INFO 38", "INFO 39", "INFO gone"));
}

/// Hides a directory's lower layers, in both ways that overlayfs knows; false: this file system does not
/// support it.
bool MakeOpaque(const std::string& folder) {
  const bool for_users = setxattr(folder.c_str(), "user.overlay.opaque", "y", 1, 0) == 0;
  return for_users && (geteuid() != 0 || setxattr(folder.c_str(), "trusted.overlay.opaque", "y", 1, 0) == 0);
}

/// The highest layer with a file is not enough: whiteouts and opaque directories in all layers matter.
TEST_P(ContainerTest, ItsFilesAreLookedUpAsItSeesThem) {
  for (const char* path : {"/link", "/dangling", "/gone/file", "/back/file", "/opaque/file",
                           "/no_folder/file", "/kept/file", "/moved/file"}) {
    image_.AddFile(0, path, "old");
  }
  image_.AddFile(1, "/data/file", "of layer 1");
  image_.AddWhiteout(1, "/gone");
  image_.AddWhiteout(1, "/back");
  image_.AddFile(1, "/no_folder", "a file");
  image_.AddFile(1, "/kept/other", "x");
  image_.AddFile(2, "/back/new", "new");
  image_.AddFile(2, "/opaque/new", "new");
  image_.AddWhiteout(2, "/moved");
  const auto link = [this](const std::string& target, const std::string& path) {
    fs::create_symlink(target, image_.Layer(2) + path);
  };
  link("/data/file", "/link");
  link("/nothing", "/dangling");
  link("loop", "/loop");
  link("data/../data", "/folder");
  link("../../folder/file", "/above");
  link("/gone/file", "/to_gone");
  std::vector<std::pair<std::string, std::string>> rows = {{"/link", "of layer 1"},
                                                           {"/dangling", "none"},
                                                           {"/gone/file", "none"},
                                                           {"/back/file", "none"},
                                                           {"/back/new", "new"},
                                                           {"/opaque/new", "new"},
                                                           {"/no_folder", "a file"},
                                                           {"/no_folder/f", "none"},
                                                           {"/no_folder/file", "none"},
                                                           {"/kept/file", "old"},
                                                           {"/moved/file", "none"},
                                                           {"/loop", "none"},
                                                           {"/folder", "none"},
                                                           {"/above", "of layer 1"},
                                                           {"/folder/file", "of layer 1"},
                                                           {"/folder/./../etc/../data/file", "of layer 1"},
                                                           {"/to_gone", "none"},
                                                           {"/data/file/..", "none"},
                                                           {"/no/such", "none"}};
  if (MakeOpaque(image_.Layer(2) + "/opaque")) rows.emplace_back("/opaque/file", "none");
  std::string script;
  std::vector<std::string> seen;
  image_.Write();
  const auto image = ReadTestImage(folder_.path() + "/images", "sha256:0123");
  for (const auto& [path, text] : rows) {
    script += "echo " + path + " $(cat " + path + " 2>/dev/null || echo none)\n";
    seen.push_back("INFO " + path + " " + text);
    const std::string read = ReadImageFile(*image, path);
    EXPECT_EQ(read.empty() ? "none" : read, text) << path;
  }
  EXPECT_TRUE(ImageHas(*image, "/folder/"));
  EXPECT_FALSE(ImageHas(*image, "/gone"));
  EXPECT_EQ(RunScript(script), seen);
}

TEST_P(ContainerTest, StopsByTheImagesSignal) {
  Script("trap 'echo saving; exit 7' INT; trap 'echo wrong' TERM; echo up; while :; do sleep 0.01; done");
  image_.config.stop_signal = "SIGINT";
  image_.Write();
  Run();
  ASSERT_TRUE(WaitForLine("up"));
  Stop("cancelled by the user");
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::STOPPED);
  EXPECT_EQ(exit.exit_code(), 7);
  EXPECT_THAT(Lines(), Contains("INFO saving"));
  EXPECT_THAT(Lines(), Not(Contains("INFO wrong")));
}

TEST_P(ContainerTest, AFirstProcessWithoutHandlersIsKilledAfterTheGrace) {
  manifest_.mutable_limits()->set_stop_grace_ms(200);
  image_.config.entrypoint = {"/bin/busybox", "sleep", "1000"};
  image_.Write();
  Run();
  const std::vector<pid_t> processes = Descendants(supervisor_);
  EXPECT_FALSE(processes.empty());
  Stop("cancelled by the user");
  EXPECT_EQ(Finish().cause(), v1::ExitRecord::STOPPED);
  for (const pid_t pid : processes) EXPECT_TRUE(WaitUntilGone(pid));
}

TEST_P(ContainerTest, NobodyInItHoldsTheLock) {
  Script("echo up; exec sleep 1000");
  image_.Write();
  Run();
  ASSERT_TRUE(WaitForLine("up"));
  const auto note = ReadInitNote(dir_);
  ASSERT_TRUE(note.has_value());
  EXPECT_THAT(LockHolders(dir_), UnorderedElementsAre(supervisor_, note->init.pid));
  Stop("enough", true);  // the first process of a PID namespace ignores SIGTERM
  Finish();
}

TEST_P(ContainerTest, NothingIsLeftWhenTheSupervisorIsKilled) {
  Script("sleep 1000 & echo up; sleep 1000");
  image_.Write();
  Run();
  ASSERT_TRUE(WaitForLine("up"));
  const std::vector<pid_t> processes = Descendants(supervisor_);
  EXPECT_GE(processes.size(), 4U);  // init, the runtime, the script and its child
  kill(supervisor_, SIGKILL);
  ASSERT_TRUE(WaitForEnd(supervisor_fd_));
  for (const pid_t pid : processes) EXPECT_TRUE(WaitUntilGone(pid)) << pid;
  if (const auto note = ReadFile(dir_.Cgroup())) RemoveCgroup(*note);  // as done when the attempt is removed
  ExpectNothingLeft();
}

TEST_P(ContainerTest, NothingIsLeftWhenTheRuntimeIsKilled) {
  Script("sleep 1000 & echo up; sleep 1000");
  image_.Write();
  Run();
  ASSERT_TRUE(WaitForLine("up"));
  const std::vector<pid_t> processes = Descendants(supervisor_);
  for (const pid_t pid : processes) {
    const auto name = ReadFile("/proc/" + std::to_string(pid) + "/comm");
    if (name && name->starts_with(way_.runtime)) kill(pid, SIGKILL);
  }
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::SIGNALED);
  for (const pid_t pid : processes) EXPECT_TRUE(WaitUntilGone(pid)) << pid;
}

TEST_P(ContainerTest, AKilledMainProcessIsAFailure) {
  Script("echo up; sleep 1000");
  image_.Write();
  Run();
  ASSERT_TRUE(WaitForLine("up"));
  for (const pid_t pid : Descendants(supervisor_)) {
    const auto name = ReadFile("/proc/" + std::to_string(pid) + "/cmdline");
    if (name && name->find("/script") != std::string::npos) kill(pid, SIGKILL);
  }
  const v1::ExitRecord exit = Finish();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::EXITED);
  EXPECT_EQ(exit.exit_code(), 137);
}

TEST_P(ContainerTest, RunningOutOfMemoryIsSeen) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root for a cgroup";
  manifest_.mutable_limits()->set_memory_bytes(std::int64_t{64} << 20);
  manifest_.mutable_limits()->set_shared_memory_bytes(std::int64_t{512} << 20);
  Script("dd if=/dev/zero of=/dev/shm/x bs=1M count=200 2>/dev/null || exit 9");
  const v1::ExitRecord exit = RunImage();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::OUT_OF_MEMORY);
  EXPECT_EQ(exit.memory_limit_bytes(), std::int64_t{64} << 20);
}

TEST_P(ContainerTest, CpusAndProcessesAreLimited) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root for a cgroup";
  manifest_.mutable_limits()->set_cpus(0.5);
  manifest_.mutable_limits()->set_pids(40);  // runc itself has a dozen threads
  Script("trap 'exit 7' TERM; echo up; while :; do sleep 0.01; done");
  image_.Write();
  Run();
  ASSERT_TRUE(WaitForLine("up"));
  std::istringstream groups(ReadFile(dir_.Cgroup()).value_or(""));
  std::string limits;
  for (std::string path; std::getline(groups, path);) {
    for (const char* file : {"/cpu.cfs_quota_us", "/cpu.max", "/pids.max"})
      limits += ReadFile(path + file).value_or("");
    EXPECT_NE(ReadFile(path + "/cgroup.procs"), "") << path;
  }
  EXPECT_THAT(limits, HasSubstr("50000"));
  EXPECT_THAT(limits, HasSubstr("40\n"));
  Stop("enough");
  EXPECT_EQ(Finish().exit_code(), 7);
}

TEST_P(ContainerTest, WhatItWritesIsLimited) {
  manifest_.mutable_limits()->set_disk_bytes(std::int64_t{16} << 20);
  const std::vector<std::string> lines =
      RunScript("dd if=/dev/zero of=/tmp/x bs=1M count=50 2>/dev/null && echo all || echo full");
  if (GetParam().isolation == 0 && CanMountDiskImages()) {
    EXPECT_THAT(lines, Contains("INFO full"));
  } else {
    EXPECT_THAT(Lines(), Contains(HasSubstr("diskConfig is not enforced")));
  }
  for (const auto& device : fs::directory_iterator("/sys/block")) {
    EXPECT_THAT(ReadFile(device.path() / "loop/backing_file").value_or(""), Not(HasSubstr(folder_.path())));
  }
}

/// The same by an ordinary user, if that user may execute this program.
TEST(OrdinaryUserTest, RunsContainers) {
  if (geteuid() != 0) GTEST_SKIP() << "is one";
  const std::string self = fs::read_symlink("/proc/self/exe");
  const std::string user = FindTool("setpriv") + " --reuid=65534 --regid=65534 --clear-groups ";
  if (std::system((user + "test -x " + self).c_str()) != 0) GTEST_SKIP() << self << " is not for everybody";
  if (std::system((user + "unshare --user --pid --mount --fork true 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "this machine allows users no namespaces";
  const std::string tests =
      "*ExitCodeOfTheMainProcessDecides*rootless:*HasTheImagesVariables*rootless:*StopsByTheImages*rootless:"
      "*NothingIsLeftWhenTheSupervisorIsKilled*rootless:*WhatItWritesIsLimited*rootless";
  EXPECT_EQ(std::system(("cd / && " + user + "env TMPDIR=/tmp " + self + " --gtest_brief=1 --gtest_filter='" +
                         tests + "'")
                            .c_str()),
            0);
}

struct Unrunnable {
  const char* name;
  const char* text;
  bool executable;
  const char* program;
  const char* reason;
};

constexpr Unrunnable kUnrunnable[] = {
    {"missing", "", true, "/no/such", "the image has no such file"},
    {"missing_on_path", "", true, "nosuch", "the image has no such file"},
    {"not_executable", "#!/bin/sh\n", false, "/program", "it is not executable"},
    {"other_machine",
     "\x7f"
     "ELF\x02\x01\x01 of another machine",
     true, "/program", "it is built for another kind of machine"},
    {"no_interpreter", "#!/no/such\n", true, "/program", "it needs /no/such, which the image does not have"}};

INSTANTIATE_TEST_SUITE_P(Ways, ContainerTest,
                         testing::Values(Way{"crun", 0}, Way{"crun", 1}, Way{"runc", 0}, Way{"runc", 1}),
                         [](const auto& row) {
                           return std::string(row.param.runtime) +
                                  (row.param.isolation == 0 ? "" : "_rootless");
                         });

class UnrunnableTest : public ContainerFixture,
                       public testing::WithParamInterface<std::tuple<const char*, Unrunnable>> {
 protected:
  UnrunnableTest() : ContainerFixture({.runtime = std::get<0>(GetParam()), .isolation = 0}) {}
};

TEST_P(UnrunnableTest, SaysWhy) {
  const Unrunnable& row = std::get<1>(GetParam());
  image_.AddFile(0, "/program", row.text, row.executable);
  image_.config.entrypoint = {row.program};
  const v1::ExitRecord exit = RunImage();
  EXPECT_EQ(exit.cause(), v1::ExitRecord::PREPARATION_FAILED);
  EXPECT_THAT(exit.message(), HasSubstr(row.reason));
  EXPECT_EQ(exit.diagnosis().name(), "container_program");
}

INSTANTIATE_TEST_SUITE_P(Rows, UnrunnableTest,
                         testing::Combine(testing::Values("crun", "runc"), testing::ValuesIn(kUnrunnable)),
                         [](const auto& row) {
                           return std::string(std::get<0>(row.param)) + "_" + std::get<1>(row.param).name;
                         });

}  // namespace
}  // namespace trainyard::replica
