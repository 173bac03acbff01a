#include "programs/image/unpack_budget.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <filesystem>
#include <string>

#include "base/async/file.h"
#include "programs/environment/temporary_folder_for_test.h"

namespace trainyard::image {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr std::int64_t kMiB = std::int64_t{1} << 20;

struct Row {
  const char* name;
  std::int64_t blob;
  std::int64_t unpacked;
  bool refused;
};

class Budget : public testing::TestWithParam<Row> {};
TEST_P(Budget, Rules) {
  const Row& row = GetParam();
  EXPECT_EQ(!UnpackBudget(row.blob).Spend(row.unpacked).has_value(), row.refused);
  // The same in pieces.
  UnpackBudget budget(row.blob);
  bool refused = false;
  for (std::int64_t left = row.unpacked; left > 0 && !refused; left -= row.unpacked / 4)
    refused = !budget.Spend(std::min(left, row.unpacked / 4)).has_value();
  EXPECT_EQ(refused, row.refused);
}
INSTANTIATE_TEST_SUITE_P(Rules, Budget,
                         testing::Values(Row{"small_nothing", 100, kGiB, false},
                                         Row{"large_nothing", 100, kGiB + 4, true},
                                         Row{"the_one_of_the_issue", 3 * kMiB / 2, 3 * kGiB / 2, true},
                                         Row{"a_hundredth", 20 * kMiB, 2000 * kMiB - 4, false},
                                         Row{"less", 20 * kMiB, 2000 * kMiB + 400, true},
                                         Row{"honest", 4 * kGiB, 12 * kGiB, false}),
                         [](const auto& row) { return row.param.name; });

TEST(UnpackBudgetTest, SaysBothFigures) {
  const Status spent = UnpackBudget(1'500'000).Spend(1'610'000'000);
  ASSERT_FALSE(spent);
  EXPECT_EQ(
      spent.error(),
      InvalidArgument({},
                      "a layer of 1.5 MB unpacks to 1.6 GB or more, which is over 1.1 GB and more than 100 "
                      "times its size: it is refused; build the image without large files that hold "
                      "nothing"));
}

TEST(UnpackBudgetTest, DoesNotOverflow) {
  UnpackBudget budget(INT64_MAX);
  EXPECT_TRUE(budget.Spend(INT64_MAX));
  EXPECT_TRUE(budget.Spend(INT64_MAX));
  EXPECT_TRUE(budget.Spend(-5));
}

TEST(DiskReserveTest, IsLessOnASmallDisk) {
  EXPECT_EQ(DiskReserve(1000 * kGiB), kGiB);
  EXPECT_EQ(DiskReserve(kGiB), kGiB / 20);
}

TEST(DiskGuardTest, KeepsTheReserve) {
  const environment::TemporaryFolder folder;
  const std::string disk = folder.path() / "disk";
  std::filesystem::create_directories(disk);
  if (::mount("none", disk.c_str(), "tmpfs", 0, "size=4m") != 0) GTEST_SKIP() << "this user cannot mount";
  {
    const UniqueFd opened = *OpenFile(disk, O_RDONLY | O_DIRECTORY);
    DiskGuard guard(opened.get());
    EXPECT_TRUE(guard.Wrote(0));
    EXPECT_TRUE(WriteFileAtomically(disk + "/x", std::string(4'000'000, 'x')));
    EXPECT_TRUE(guard.Wrote(kDiskLookBytes - 1)) << "not looked at yet";
    const Status full = guard.Wrote(1);
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, Code::kResourceExhausted);
    EXPECT_NE(full.error().message.find("are kept free"), std::string::npos) << full.error().message;
  }
  ::umount2(disk.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace trainyard::image
