#include "stores/store/data_directory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/async/unique_fd.h"

namespace trainyard::store {
namespace {

TEST(LockHolders, AreTheOthersThatHaveTheFileOpen) {
  const std::string path = testing::TempDir() + "lock_holders_test." + std::to_string(::getpid());
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT, 0600));
  EXPECT_THAT(ProcessesWith(path), testing::IsEmpty());
  const pid_t child = ::fork();  // as a server's child that was killed before its exec
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  EXPECT_THAT(ProcessesWith(path), testing::ElementsAre(child));
  EXPECT_THAT(DescribeHolders({child}), testing::StartsWith("process " + std::to_string(child) + " ("));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_THAT(ProcessesWith(path), testing::IsEmpty());
  EXPECT_EQ(DescribeHolders({}), "a process of another account");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace trainyard::store
