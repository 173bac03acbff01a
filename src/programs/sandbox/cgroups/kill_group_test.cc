#include "programs/sandbox/cgroups/kill_group.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "base/async/file.h"
#include "base/async/testing/temporary_folder.h"
#include "base/async/unique_fd.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

bool HasEnded(const UniqueFd& pidfd, int wait_ms) {
  pollfd ended{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  return poll(&ended, 1, wait_ms) == 1;
}

/// A child that runs `body`, and is reaped at the latest when the test ends.
class Child {
 public:
  template <class Body>
  explicit Child(Body body) : pid_(fork()) {
    if (pid_ == 0) {
      body();
      for (;;) pause();
    }
    pidfd_.Reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  }
  Child() : Child([] {}) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const UniqueFd& pidfd() const { return pidfd_; }

 private:
  pid_t pid_;
  UniqueFd pidfd_;
};

/// Simulates cgroupfs with a directory: the test writes which processes are in the group.
class PlainGroup : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name = {}) const { return folder_.path() + name; }
  void Put(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
  }
  TemporaryFolder folder_;
};

TEST_F(PlainGroup, ThatIsNotThereHasNothing) {
  EXPECT_FALSE(HasProcesses(path("/none")));
  EXPECT_TRUE(KillGroup(path("/none"), milliseconds(0)).has_value());
}

TEST_F(PlainGroup, KillsWhatIsInItAndBelowAndNobodyElse) {
  const Child inside;
  const Child below;
  const Child outside;
  Put("/cgroup.procs", "0\n" + std::to_string(inside.pid()) + "\n" + std::to_string(getpid()) + "\n");
  Put("/container/cgroup.procs", std::to_string(below.pid()) + "\n");
  EXPECT_TRUE(HasProcesses(path()));
  // Nobody removes them from the files: it tries until its time is over.
  EXPECT_EQ(KillGroup(path(), milliseconds(5)).error().code, Code::kDeadlineExceeded);
  EXPECT_TRUE(HasEnded(inside.pidfd(), 20'000));
  EXPECT_TRUE(HasEnded(below.pidfd(), 20'000));
  EXPECT_FALSE(HasEnded(outside.pidfd(), 0));
}

TEST_F(PlainGroup, AFileForItIsPreferred) {
  const Child inside;
  Put("/cgroup.procs", std::to_string(inside.pid()) + "\n");
  Put("/cgroup.kill", "");
  Put("/freezer.state", "");
  EXPECT_FALSE(KillGroup(path(), milliseconds(0)).has_value());
  EXPECT_EQ(ReadFile(path("/cgroup.kill")), "1");
  EXPECT_EQ(ReadFile(path("/freezer.state")), "") << "nothing else was touched";
  EXPECT_FALSE(HasEnded(inside.pidfd(), 0)) << "the kernel would have done it";
}

TEST_F(PlainGroup, IsThawedAgain) {
  const Child inside;
  Put("/cgroup.procs", std::to_string(inside.pid()) + "\n");
  Put("/freezer.state", "THAWED");
  EXPECT_FALSE(KillGroup(path(), milliseconds(0)).has_value());
  EXPECT_EQ(ReadFile(path("/freezer.state")), "THAWED");
  EXPECT_TRUE(HasEnded(inside.pidfd(), 20'000));
}

TEST_F(PlainGroup, OfVersion2IsStoppedWhereItCannotBeKilledAsAWhole) {
  const Child inside;
  Put("/cgroup.procs", std::to_string(inside.pid()) + "\n");
  Put("/cgroup.freeze", "0");
  Put("/cgroup.events", "populated 1\nfrozen 1\n");
  EXPECT_FALSE(KillGroup(path(), milliseconds(0)).has_value());
  EXPECT_EQ(ReadFile(path("/cgroup.freeze")), "0");
  EXPECT_TRUE(HasEnded(inside.pidfd(), 20'000));
}

/// Uses the real freezer, if this machine has it.
class RealFreezer : public testing::Test {
 protected:
  void SetUp() override {
    auto made = FreezerGroup::Create("trainyard-test-" + std::to_string(getpid()));
    if (!made) GTEST_SKIP() << made.error().message;
    group_ = *std::move(made);
  }
  void Join() const {
    const int procs = open((group_.path() + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
    if (procs < 0 || write(procs, "0", 1) != 1) _exit(1);
    close(procs);
  }
  FreezerGroup group_;
};

TEST_F(RealFreezer, EndsWhatForksWithoutEnd) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  // Each process lives just long enough to start the next one: whoever reads a list is always late.
  const Child chain([&] {
    Join();
    [[maybe_unused]] const ssize_t told = write(theirs.get(), "1", 1);
    setsid();
    std::signal(SIGCHLD, SIG_IGN);
    for (;;) {
      const pid_t next = fork();
      if (next > 0) _exit(0);
    }
  });
  theirs.Reset();
  char began = 0;
  ASSERT_EQ(read(ours.get(), &began, 1), 1);
  ASSERT_TRUE(KillGroup(group_.path(), std::chrono::seconds(20)).has_value());
  EXPECT_FALSE(HasProcesses(group_.path()));
  EXPECT_EQ(read(ours.get(), &began, 1), 0) << "somebody still has the pipe";
}

TEST_F(RealFreezer, IsRemovedWhenNothingIsInIt) {
  const std::string path = group_.path();
  EXPECT_TRUE(fs::exists(path));
  group_ = FreezerGroup();
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(RealFreezer, ByADescriptorOfItsDirectory) {
  const Child inside([&] {
    Join();
    raise(SIGSTOP);
  });
  ASSERT_EQ(waitpid(inside.pid(), nullptr, WUNTRACED), inside.pid());
  const UniqueFd directory(open(group_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string path = "/proc/self/fd/" + std::to_string(directory.get());
  EXPECT_TRUE(HasProcesses(path));
  EXPECT_TRUE(KillGroup(path, std::chrono::seconds(20)).has_value());
  EXPECT_TRUE(HasEnded(inside.pidfd(), 20'000));
}

}  // namespace
}  // namespace trainyard::replica
