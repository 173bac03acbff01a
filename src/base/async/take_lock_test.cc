#include "base/async/take_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <filesystem>
#include <string>
#include <thread>

#include "base/async/unique_fd.h"

namespace trainyard {
namespace {

class TakeLockTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  [[nodiscard]] UniqueFd Open() const {
    return UniqueFd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  }

  const std::string path_ = testing::TempDir() + "take_lock_test." + std::to_string(::getpid());
};

TEST_F(TakeLockTest, WaitsForOneThatIsAboutToGo) {
  UniqueFd held = Open();
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  std::thread goes([&held] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    held = UniqueFd();
  });
  const UniqueFd mine = Open();
  EXPECT_EQ(TakeLock(mine.get()), Result<bool>(true));
  goes.join();
}

TEST_F(TakeLockTest, GivesUpOnOneThatStays) {
  const UniqueFd held = Open();
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  const UniqueFd mine = Open();
  EXPECT_EQ(TakeLock(mine.get(), std::chrono::milliseconds(30)), Result<bool>(false));
}

TEST_F(TakeLockTest, SaysWhatCannotBeLocked) { EXPECT_FALSE(TakeLock(-1)); }

}  // namespace
}  // namespace trainyard
