#include "programs/runtimes/attempt_processes.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/async/testing/temporary_folder.h"
#include "base/async/unique_fd.h"
#include "programs/attempt/attempt_dir.h"

namespace trainyard::replica {
namespace {

/// An attempt: a supervisor with its lock, and its child, a program with a socket. They end with the object.
class Attempt {
 public:
  Attempt(const std::string& attempts_dir, const std::string& id) {
    const AttemptDir dir{attempts_dir + "/" + id};
    std::filesystem::create_directories(dir.path);
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    EXPECT_EQ(::pipe(stop_.data()), 0);
    supervisor_ = ::fork();
    if (supervisor_ == 0) {
      ::close(stop_[1]);
      const auto lock = LockAttempt(dir);
      const bool signed_lock = lock && SignLock(lock->get(), ::getpid());
      if (signed_lock && ::fork() == 0) {
        const int made = ::socket(AF_INET, SOCK_STREAM, 0);
        struct stat own{};
        ::fstat(made, &own);
        const auto number = static_cast<std::uint32_t>(own.st_ino);
        static_cast<void>(::write(ready[1], &number, sizeof(number)));
      }
      char byte = 0;
      static_cast<void>(::read(stop_[0], &byte, 1));
      ::_exit(0);
    }
    ::close(stop_[0]);
    EXPECT_EQ(::read(ready[0], &socket_, sizeof(socket_)), static_cast<ssize_t>(sizeof(socket_)));
    ::close(ready[0]);
    ::close(ready[1]);
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt() {
    ::close(stop_[1]);
    ::waitpid(supervisor_, nullptr, 0);
  }
  [[nodiscard]] std::uint32_t socket() const { return socket_; }
  [[nodiscard]] pid_t supervisor() const { return supervisor_; }

 private:
  std::array<int, 2> stop_{};
  pid_t supervisor_ = -1;
  std::uint32_t socket_ = 0;
};

TEST(AttemptProcesses, AConnectionIsItsAttempts) {
  const TemporaryFolder folder;
  const std::string& dir = folder.path();
  const Attempt first(dir, "1-master-replica-0-1");
  const Attempt second(dir, "2-worker-replica-3-2");
  EXPECT_EQ(FindAttemptOf(dir, {.socket = first.socket()}), "1-master-replica-0-1");
  EXPECT_EQ(FindAttemptOf(dir, {.socket = second.socket()}), "2-worker-replica-3-2");
  const auto processes = FindAttemptProcesses(dir);
  ASSERT_EQ(processes.size(), 2U) << "supervisors are none";
  for (const AttemptProcess& process : processes)
    EXPECT_EQ(FindAttemptOf(dir, {.pid = process.pid}), process.attempt_id);
}

TEST(AttemptProcesses, AllElseIsNobodys) {
  const TemporaryFolder folder;
  const std::string& dir = folder.path();
  const Attempt attempt(dir, "1-master-replica-0-1");
  const UniqueFd own(::socket(AF_INET, SOCK_STREAM, 0));
  struct stat about{};
  ASSERT_EQ(::fstat(own.get(), &about), 0);
  EXPECT_EQ(FindAttemptOf(dir, {.socket = static_cast<std::uint32_t>(about.st_ino)}), std::nullopt);
  EXPECT_EQ(FindAttemptOf(dir, {.pid = ::getpid()}), std::nullopt);
  EXPECT_EQ(FindAttemptOf(dir, {.pid = attempt.supervisor()}), std::nullopt);
  EXPECT_EQ(FindAttemptOf(dir, {}), std::nullopt);
  EXPECT_EQ(FindAttemptOf(dir + "/none", {.socket = attempt.socket()}), std::nullopt);
}

TEST(AttemptProcesses, ASocketOfTwoAttemptsIsNobodys) {
  const TemporaryFolder folder;
  const std::string& dir = folder.path();
  const UniqueFd shared(::socket(AF_INET, SOCK_STREAM, 0));  // each program inherits it
  struct stat about{};
  ASSERT_EQ(::fstat(shared.get(), &about), 0);
  const auto number = static_cast<std::uint32_t>(about.st_ino);
  const Attempt first(dir, "1-master-replica-0-1");
  EXPECT_EQ(FindAttemptOf(dir, {.socket = number}), "1-master-replica-0-1");
  const Attempt second(dir, "2-worker-replica-3-2");
  EXPECT_EQ(FindAttemptOf(dir, {.socket = number}), std::nullopt);
}

}  // namespace
}  // namespace trainyard::replica
