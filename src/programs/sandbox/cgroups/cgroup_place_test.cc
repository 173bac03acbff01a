#include "programs/sandbox/cgroups/cgroup.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;

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

/// Groups that somebody else made, simulated with directories: the same files, without a kernel behind them.
class MemoryAtTest : public testing::Test {
 protected:
  MemoryAtTest() {
    std::string pattern = testing::TempDir() + "groupsXXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~MemoryAtTest() override { fs::remove_all(root_); }

  void Put(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  [[nodiscard]] std::optional<EnclosingMemory> At(const std::string& group, int version) const {
    return MemoryAt({.path = root_ / group, .version = version});
  }

 private:
  fs::path root_;
};

TEST_F(MemoryAtTest, TheSmallestLimitAroundCounts) {
  Put("pods/memory.max", "1000\n");
  Put("pods/memory.peak", "990\n");
  Put("pods/one/memory.max", "3000\n");
  Put("pods/one/memory.peak", "980\n");
  Put("pods/one/agent/memory.max", "max\n");
  Put("pods/one/agent/memory.events", "low 0\noom 4\noom_kill 2\n");
  EXPECT_EQ(At("pods/one/agent", 2),
            (EnclosingMemory{.oom_kills = 2, .limit_bytes = 1000, .peak_bytes = 990}));
}

TEST_F(MemoryAtTest, Version1HasANumberWhereThereIsNoLimit) {
  Put("job/memory.limit_in_bytes", "2000\n");
  Put("job/memory.max_usage_in_bytes", "2000\n");
  Put("job/step/memory.limit_in_bytes", "9223372036854771712\n");
  Put("job/step/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  EXPECT_EQ(At("job/step", 1), (EnclosingMemory{.oom_kills = 1, .limit_bytes = 2000, .peak_bytes = 2000}));
}

TEST_F(MemoryAtTest, WithoutALimitThereIsNone) {
  Put("job/memory.max", "max\n");
  Put("job/memory.events", "oom_kill 0\n");
  EXPECT_EQ(At("job", 2), EnclosingMemory());
}

TEST_F(MemoryAtTest, AGroupThatCountsNothingIsUnknown) {
  EXPECT_EQ(At("job", 2), std::nullopt);
  EXPECT_EQ(MemoryAt({}), std::nullopt);
}

}  // namespace
}  // namespace trainyard::replica
