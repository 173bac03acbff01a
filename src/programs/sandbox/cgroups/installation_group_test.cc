#include "programs/sandbox/cgroups/installation_group.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/async/file.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;

/// Simulates a group of cgroupfs with a directory: the same files, without a kernel behind them.
class InstallationGroupTest : public testing::Test {
 protected:
  InstallationGroupTest() {
    std::string pattern = testing::TempDir() + "groupXXXXXX";
    base_ = mkdtemp(pattern.data());
    Put("cgroup.procs", "");
    Put("cgroup.controllers", "cpuset cpu io memory pids\n");
    Put("cgroup.subtree_control", "");
    fs::create_directories(base_ + "/" + kLeafName);
    Put(std::string(kLeafName) + "/cgroup.procs", "");
    fs::create_directories(base_ + "/yard");
    Put("yard/cgroup.subtree_control", "");
  }
  ~InstallationGroupTest() override { fs::remove_all(base_); }

  void Put(const std::string& name, const std::string& text) { std::ofstream(base_ + "/" + name) << text; }
  std::string Get(const std::string& name) { return ReadFile(base_ + "/" + name).value_or("?"); }

  std::string base_;
};

TEST_F(InstallationGroupTest, SwitchesTheControllersOnAtBothLevels) {
  EXPECT_EQ(DivideGroup(base_, "yard"), (LimitSupport{.version = 2, .group = base_ + "/yard"}));
  // A plain file keeps what was written last, at its beginning.
  EXPECT_NE(Get("cgroup.subtree_control").find("+pids"), std::string::npos);
  EXPECT_NE(Get("yard/cgroup.subtree_control").find("+pids"), std::string::npos);
}

TEST_F(InstallationGroupTest, RemovesWhatKilledProcessesLeft) {
  const std::string nobody = "-9999999";  // beyond the greatest pid
  const std::string left = base_ + "/yard/yard-7-master-replica-0-1" + nobody;
  const std::vector<std::string> kept = {
      "yard/yard-7-master-replica-0-2-" + std::to_string(getpid()),  // of a living supervisor
      "yard/yard-8-master-replica-0-1" + nobody,                     // something is in it
      "yard/yard2-7-master-replica-0-1" + nobody,                    // of another installation
      "yard/yard-7-master-replica-0-x"};
  fs::create_directories(left);
  for (const std::string& name : kept) fs::create_directories(base_ + "/" + name);
  Put(kept[1] + "/cgroup.procs", "4242\n");
  static_cast<void>(DivideGroup(base_, "yard"));
  EXPECT_FALSE(fs::exists(left));
  for (const std::string& name : kept) EXPECT_TRUE(fs::exists(base_ + "/" + name)) << name;
}

TEST_F(InstallationGroupTest, WhatIsOnStaysUntouched) {
  Put("cgroup.subtree_control", "cpu memory pids\n");
  Put("yard/cgroup.subtree_control", "cpu memory pids\n");
  EXPECT_EQ(DivideGroup(base_, "yard").missing, std::vector<MissingLimit>{});
  EXPECT_EQ(Get("cgroup.subtree_control"), "cpu memory pids\n");
}

TEST_F(InstallationGroupTest, ProcessesGoIntoTheLeaf) {
  Put("cgroup.procs", "4242\n");
  static_cast<void>(DivideGroup(base_, "yard"));
  EXPECT_EQ(Get(std::string(kLeafName) + "/cgroup.procs"), "4242");
}

TEST_F(InstallationGroupTest, AnAbsentControllerIsToldFromOneThatMayNotBeUsed) {
  Put("cgroup.controllers", "cpu pids\n");
  const LimitSupport support = DivideGroup(base_, "yard");
  ASSERT_EQ(support.missing.size(), 1U);
  EXPECT_EQ(support.missing[0].what, "memory");
  EXPECT_TRUE(support.missing[0].absent);
  EXPECT_EQ(support.version, 2);
}

TEST_F(InstallationGroupTest, WhereMemoryMayNotBeUsedNoOtherIsTried) {
  fs::remove(base_ + "/cgroup.subtree_control");
  fs::create_directory(base_ + "/cgroup.subtree_control");  // cannot be written, not even by root
  const LimitSupport support = DivideGroup(base_, "yard");
  EXPECT_EQ(support.version, 0);
  EXPECT_EQ(support.missing.size(), 3U);
  EXPECT_EQ(Get("yard/cgroup.subtree_control"), "");
}

TEST_F(InstallationGroupTest, OfNothing) {
  const LimitSupport support = DivideGroup(base_ + "/not there", "yard");
  EXPECT_EQ(support.version, 0);
  ASSERT_EQ(support.missing.size(), 3U);
  EXPECT_FALSE(support.missing[0].absent);
  EXPECT_NE(support.missing[0].why, "");
}

TEST_F(InstallationGroupTest, CanDivide) {
  EXPECT_TRUE(CanDivide(base_));
  fs::remove(base_ + "/cgroup.subtree_control");
  EXPECT_FALSE(CanDivide(base_));
  EXPECT_FALSE(IsDelegated(base_));
}

TEST(BaseGroup, TheLeafIsNotDividedAgain) {
  EXPECT_EQ(BaseGroup("/sys/fs/cgroup/a.scope"), "/sys/fs/cgroup/a.scope");
  EXPECT_EQ(BaseGroup("/sys/fs/cgroup/a.scope/trainyard-leaf"), "/sys/fs/cgroup/a.scope");
  EXPECT_EQ(BaseGroup("/sys/fs/cgroup/not-trainyard-leaf"), "/sys/fs/cgroup/not-trainyard-leaf");
}

constexpr const char* kUnifiedMounts = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(CgroupView, VersionAndOwnGroup) {
  const CgroupView unified{.membership = "0::/a.scope\n", .mounts = kUnifiedMounts};
  EXPECT_EQ(CgroupVersion(unified), 2);
  EXPECT_EQ(OwnGroup(unified), "/sys/fs/cgroup/a.scope");
  const CgroupView first{.membership = "4:memory:/a\n0::/b\n",
                         .mounts = "35 31 0:32 / /m rw - cgroup cgroup rw,memory\n"};
  EXPECT_EQ(CgroupVersion(first), 1);
  EXPECT_EQ(OwnGroup(first), "");
  EXPECT_EQ(CgroupVersion({}), 0);
}

TEST(Version1, AMissingHierarchyIsAbsent) {
  const std::string folder = testing::TempDir();
  const CgroupView view{.membership = "4:memory:/\n5:cpu:/\n",
                        .mounts = "1 1 0:1 / " + folder + " rw - cgroup cgroup rw,memory\n" + "1 1 0:1 / " +
                                  folder + " rw - cgroup cgroup rw,cpu\n"};
  const LimitSupport support = TryVersion1(view, "yard");
  EXPECT_EQ(support.version, 1);
  ASSERT_EQ(support.missing.size(), 1U);
  EXPECT_EQ(support.missing[0].what, "processes");
  EXPECT_TRUE(support.missing[0].absent);
}

TEST(NoLimitsAtAll, SayOneReason) {
  const LimitSupport support = NoLimits(true, "why");
  EXPECT_EQ(support.version, 0);
  ASSERT_EQ(support.missing.size(), 3U);
  EXPECT_EQ(support.missing[2], (MissingLimit{"processes", true, "why"}));
}

}  // namespace
}  // namespace trainyard::replica
