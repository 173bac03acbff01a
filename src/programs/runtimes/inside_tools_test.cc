#include "programs/runtimes/inside_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/async/file.h"
#include "base/async/testing/temporary_folder.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(IsInit, GoesByTheName) {
  for (const char* name :
       {"/usr/bin/tini", "tini", "/sbin/dumb-init", "/init", "s6-svscan", "/sbin/docker-init"})
    EXPECT_TRUE(IsInit(name)) << name;
  for (const char* name : {"python", "/usr/bin/python3", "init.sh", "/tini/run", ""})
    EXPECT_FALSE(IsInit(name)) << name;
}

TEST(StorageToolBinds, StandInForTheImagesOwn) {
  const auto has = [](const std::string& path) {
    return path == "/usr/bin/gcsfuse" || path == "/bin/fusermount" || path == "/bin/umount";
  };
  const auto places = [&has](bool add) {
    std::vector<std::string> found;
    for (const FileView::Bind& bind : StorageToolBinds("/t", add, has)) {
      EXPECT_EQ(bind.from, "/t/gcsfuse");
      EXPECT_TRUE(bind.read_only);
      found.push_back(bind.to);
    }
    return found;
  };
  EXPECT_THAT(places(false), ElementsAre("/usr/bin/gcsfuse", "/bin/fusermount"));
  EXPECT_THAT(places(true),
              ElementsAre("/usr/local/bin/gcsfuse", "/usr/bin/gcsfuse", "/usr/local/bin/fusermount",
                          "/bin/fusermount", "/usr/local/bin/fusermount3", "/usr/local/bin/umount"));
}

/// These tests do not run it as process 1: it treats children and signals in the same way if it is a
/// subreaper.
class ContainerInit : public testing::Test {
 protected:
  void SetUp() override {
    const auto tools = FindInsideTools(folder_.path());
    ASSERT_TRUE(tools) << tools.error().message;
    path_ = tools->init;
  }

  /// The wait status. `act`: with the pid, while it runs.
  int Run(std::vector<std::string> words, const std::function<void(pid_t)>& act = {}) {
    words.insert(words.begin(), path_);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t init = fork();
    if (init == 0) {
      prctl(PR_SET_CHILD_SUBREAPER, 1);
      execv(path_.c_str(), argv.data());
      _exit(99);
    }
    if (act) act(init);
    int status = 0;
    EXPECT_EQ(waitpid(init, &status, 0), init);
    EXPECT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status);
  }
  std::string Shell(const std::string& name, const std::string& script) {
    const std::string file = folder_.path() + "/" + name;
    std::ofstream(file) << script;
    return file;
  }
  void AwaitFile(const std::string& name) {
    while (!fs::exists(folder_.path() + "/" + name)) usleep(1'000);
  }

  TemporaryFolder folder_;
  std::string path_;
};

TEST_F(ContainerInit, EndsAsTheProgramDoes) {
  EXPECT_EQ(Run({"sh", "-c", "exit 7"}), 7);
  EXPECT_EQ(Run({"/bin/sh", "-c", "exit 0"}), 0);
  EXPECT_EQ(Run({"sh", "-c", "kill -SEGV $$"}), 128 + SIGSEGV);
  EXPECT_EQ(Run({"sh", "-c", "(sleep 0.01; exit 3) & exec sh -c 'exit 4'"}), 4);
}

TEST_F(ContainerInit, SaysThatItCannotRunAProgramAsAShellDoes) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(Run({"no-such-program"}), 127);
  EXPECT_EQ(Run({"/no/such/program"}), 127);
  EXPECT_EQ(Run({"/etc/passwd"}), 126);
  EXPECT_EQ(Run({}), 126);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "cannot run no-such-program: No such file or directory\n"
            "cannot run /no/such/program: No such file or directory\n"
            "cannot run /etc/passwd: Permission denied\n"
            "usage: init PROGRAM [ARGUMENT]...\n");
}

TEST_F(ContainerInit, PassesSignalsOnToAllOfTheProgram) {
  const std::string started = folder_.path() + "/started";
  // The shell has no handler for the signal: as process 1 it would not even end.
  EXPECT_EQ(Run({"sh", "-c", "sleep 600 & : > " + started + "; wait"},
                [this](pid_t init) {
                  AwaitFile("started");
                  kill(init, SIGTERM);
                }),
            128 + SIGTERM);
  // Its child gets the signal too.
  const std::string child =
      Shell("child", "trap 'exit 5' USR1\n: > " + folder_.path() + "/ready\nwhile :; do sleep 0.01; done\n");
  EXPECT_EQ(Run({"sh", "-c", "trap : USR1; sh " + child + " & wait; wait $!"},
                [this](pid_t init) {
                  AwaitFile("ready");
                  kill(init, SIGUSR1);
                }),
            5);
}

TEST_F(ContainerInit, ReapsWhatHasLostItsParent) {
  const std::string script =
      Shell("orphans",
            "for i in 1 2 3 4 5; do sh -c 'sh -c : & exit'; done\n"
            "for i in $(seq 500); do\n"
            "  grep -l 'PPid:.'$PPID'$' /proc/[0-9]*/status 2>/dev/null | grep -vq /$$/ ||"
            " exit 0\n"
            "done\nexit 1\n");
  EXPECT_EQ(Run({"sh", script}), 0);
}

TEST(InsideTools, AreOneProgramUnderFourNamesForAllReplicas) {
  const TemporaryFolder folder;
  const auto tools = FindInsideTools(folder.path() + "/environments");
  ASSERT_TRUE(tools);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(tools->storage)) {
    names.push_back(entry.path().filename());
    EXPECT_EQ(ReadFile(entry.path()).value_or(""), ReadFile(tools->storage + "/gcsfuse").value_or("x"));
    EXPECT_EQ(access(entry.path().c_str(), X_OK), 0);
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("gcsfuse", "fusermount", "fusermount3", "umount"));
  EXPECT_EQ(access(tools->init.c_str(), X_OK), 0);
  const auto written = fs::last_write_time(tools->storage + "/gcsfuse");
  EXPECT_EQ(FindInsideTools(folder.path() + "/environments")->storage, tools->storage);
  EXPECT_EQ(fs::last_write_time(tools->storage + "/gcsfuse"), written) << "written only once";
}

TEST(InsideTools, WhatAKilledWriterLeftIsCompleted) {
  const TemporaryFolder folder;
  const auto tools = FindInsideTools(folder.path());
  ASSERT_TRUE(tools);
  fs::remove(tools->storage + "/umount");
  fs::remove(tools->storage + "/gcsfuse");
  ASSERT_TRUE(FindInsideTools(folder.path()));
  EXPECT_EQ(access((tools->storage + "/umount").c_str(), X_OK), 0);
}

}  // namespace
}  // namespace trainyard::replica
