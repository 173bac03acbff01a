#include "engine/local/leftovers.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "programs/attempt/attempt_dir.h"

namespace trainyard::engine {
namespace {

class FormerAttemptsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "former_attempts_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Makes an attempt that counts as alive while the returned descriptor is open.
  [[nodiscard]] UniqueFd Start(const std::string& id) const {
    const replica::AttemptDir dir{folder_ + "/" + id};
    std::filesystem::create_directories(dir.path);
    std::ofstream(dir.Lock()) << "";
    auto lock = replica::LockAttempt(dir);
    EXPECT_TRUE(lock);
    return *std::move(lock);
  }

  std::string folder_;
};

TEST_F(FormerAttemptsTest, FindsWhatLivesOfTheSameJob) {
  const UniqueFd lives = Start("7-worker-replica-0-2");
  EXPECT_EQ(FindFormerAttempt(folder_, "7-master-replica-0-1"), "7-worker-replica-0-2");
  EXPECT_EQ(FindFormerAttempt(folder_, "8-master-replica-0-1"), std::nullopt);
  EXPECT_EQ(FindFormerAttempt("", "7-master-replica-0-1"), std::nullopt);
  EXPECT_EQ(FindFormerAttempt(folder_ + "/absent", "7-master-replica-0-1"), std::nullopt);
}

TEST_F(FormerAttemptsTest, WhatHasEndedIsInNobodysWay) {
  {
    const UniqueFd lives = Start("7-master-replica-0-1");
  }
  EXPECT_EQ(FindFormerAttempt(folder_, "7-master-replica-0-1"), std::nullopt);
  EXPECT_FALSE(HasLivingAttempts(folder_));
  const UniqueFd other = Start("8-master-replica-0-1");
  EXPECT_TRUE(HasLivingAttempts(folder_));
}

TEST_F(FormerAttemptsTest, ARemovedLockIsNoProofOfAnEnd) {
  constexpr const char* kId = "7-master-replica-0-1";
  const replica::AttemptDir dir{folder_ + "/" + kId};
  std::filesystem::create_directories(dir.path);
  int says[2] = {};
  ASSERT_EQ(pipe(says), 0);
  const pid_t supervisor = fork();
  if (supervisor == 0) {
    const auto lock = replica::LockAttempt(dir);
    static_cast<void>(write(says[1], "x", lock ? 1 : 0));
    for (;;) pause();
  }
  char began = 0;
  EXPECT_EQ(read(says[0], &began, 1), 1);
  std::filesystem::remove(dir.Lock());
  EXPECT_TRUE(HasLivingAttempts(folder_));
  EXPECT_EQ(FindFormerAttempt(folder_, kId), kId);
  kill(supervisor, SIGKILL);
  waitpid(supervisor, nullptr, 0);
  EXPECT_FALSE(HasLivingAttempts(folder_));
  close(says[0]);
  close(says[1]);
}

}  // namespace
}  // namespace trainyard::engine
