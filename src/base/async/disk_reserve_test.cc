#include "base/async/disk_reserve.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace trainyard {
namespace {

TEST(DiskReserve, IsGivenUpInSlicesAndKeptAgain) {
  const std::string path = testing::TempDir() + "disk_reserve_test." + std::to_string(::getpid());
  const auto blocks = [&path] {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_blocks * 512 : 0;
  };
  DiskReserve reserve(path);
  EXPECT_FALSE(reserve.GiveUp()) << "there is none yet";
  reserve.Keep();
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "this disk has no room for it";
  EXPECT_GE(blocks(), DiskReserve::kBytes) << "bytes that are not allocated keep no room";
  ASSERT_TRUE(reserve.GiveUp());
  EXPECT_LE(blocks(), DiskReserve::kBytes - DiskReserve::kSlice + 4096);
  int slices = 1;
  while (reserve.GiveUp()) ++slices;
  EXPECT_EQ(slices, DiskReserve::kBytes / DiskReserve::kSlice);
  reserve.Keep();
  EXPECT_GE(blocks(), DiskReserve::kBytes);
  reserve.MakeRoom(1);
  EXPECT_GE(blocks(), DiskReserve::kBytes) << "there is room";
  std::filesystem::remove(path);
}

TEST(DiskReserve, OneWithoutItsBytesIsMadeWhole) {
  const std::string path = testing::TempDir() + "disk_reserve_test.hole." + std::to_string(::getpid());
  std::ofstream(path) << "";
  std::filesystem::resize_file(path, DiskReserve::kBytes);  // as copied by "rsync --sparse"
  DiskReserve(path).Keep();
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_GE(status.st_blocks * 512, DiskReserve::kBytes);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace trainyard
