#include "programs/runtimes/attempt_processes.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "programs/attempt/attempt_dir.h"

namespace trainyard::replica {
namespace {

constexpr uid_t kNobody = 65534;

class AttemptUids : public testing::Test {
 protected:
  AttemptUids() {
    std::string pattern = (std::filesystem::temp_directory_path() / "attempt_uids.XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::filesystem::create_directories(folder_ + "/1-master-replica-0-1");
  }
  ~AttemptUids() override { std::filesystem::remove_all(folder_); }

  /// A process that holds the attempt's lock, and below it one of another account; both until Stop().
  void StartAttempt() {
    const AttemptDir dir{folder_ + "/1-master-replica-0-1"};
    std::array<int, 2> ready{};
    ASSERT_EQ(::pipe(ready.data()), 0);
    ASSERT_EQ(::pipe(stop_.data()), 0);
    supervisor_ = ::fork();
    if (supervisor_ == 0) {
      ::close(stop_[1]);
      const auto lock = LockAttempt(dir);
      const bool signed_lock = lock && SignLock(lock->get(), ::getpid());
      const pid_t program = signed_lock ? ::fork() : -1;
      if (program == 0) {
        const bool changed = ::setuid(kNobody) == 0;
        static_cast<void>(::write(ready[1], changed ? "y" : "n", 1));
      }
      char byte = 0;
      static_cast<void>(::read(stop_[0], &byte, 1));
      ::_exit(0);
    }
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
    ::close(ready[0]);
    ::close(ready[1]);
  }
  void Stop() {
    ::close(stop_[1]);
    ::waitpid(supervisor_, nullptr, 0);
    ::close(stop_[0]);
  }

  std::string folder_;
  std::array<int, 2> stop_{};
  pid_t supervisor_ = -1;
};

TEST_F(AttemptUids, AreThoseOfItsProcesses) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root becomes another account";
  EXPECT_TRUE(FindAttemptUids(folder_).empty());
  StartAttempt();
  EXPECT_EQ(FindAttemptUids(folder_), std::set<std::uint32_t>{kNobody});
  Stop();
  EXPECT_TRUE(FindAttemptUids(folder_).empty());
}

TEST_F(AttemptUids, OfNoFolderAreNone) { EXPECT_TRUE(FindAttemptUids(folder_ + "/none").empty()); }

}  // namespace
}  // namespace trainyard::replica
