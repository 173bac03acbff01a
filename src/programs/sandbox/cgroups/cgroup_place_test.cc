#include "programs/sandbox/cgroups/cgroup.h"

#include <gtest/gtest.h>

namespace trainyard::replica {
namespace {

struct Row {
  const char* name;
  const char* cgroup;
  const char* mountinfo;
  CgroupPlace expected;
};
class CgroupPlaceTest : public testing::TestWithParam<Row> {};
TEST_P(CgroupPlaceTest, Place) {
  EXPECT_EQ(FindCgroup(GetParam().cgroup, GetParam().mountinfo), GetParam().expected);
}

constexpr const char* kHybridMounts =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
constexpr const char* kUnifiedMounts =
    "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

INSTANTIATE_TEST_SUITE_P(
    Rules, CgroupPlaceTest,
    testing::Values(
        Row{"hybrid", "8:pids:/\n4:memory:/a/b\n0::/\n", kHybridMounts, {"/sys/fs/cgroup/memory/a/b", 1}},
        Row{"unified",
            "0::/user.slice/x.service\n",
            kUnifiedMounts,
            {"/sys/fs/cgroup/user.slice/x.service", 2}},
        Row{"unified_root", "0::/\n", kUnifiedMounts, {"/sys/fs/cgroup", 2}},
        Row{"several_controllers",
            "5:cpu,memory:/a\n",
            "1 1 0:1 / /c rw - cgroup cgroup rw,cpu,memory\n",
            {"/c/a", 1}},
        Row{"below_a_container",
            "4:memory:/docker/1/x\n",
            "1 1 0:1 /docker/1 /m rw - cgroup cgroup rw,memory\n",
            {"/m/x", 1}},
        Row{"blank_in_path", "0::/\n", "1 1 0:1 / /a\\040b rw - cgroup2 cgroup2 rw\n", {"/a b", 2}},
        Row{"not_mounted", "4:memory:/a\n0::/\n", "1 1 0:1 / / rw - ext4 /dev/sda rw\n", {}},
        Row{"rubbish", "x\n:\n", ":\n-\n", {}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::replica
