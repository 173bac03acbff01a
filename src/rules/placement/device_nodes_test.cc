#include "rules/placement/device_nodes.h"

#include <gmock/gmock.h>

namespace trainyard::placement {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kLoaded =
    "Character devices:\n  1 mem\n195 nvidia\n195 nvidia-modeset\n195 nvidiactl\n235 nvidia-caps\n"
    "511 nvidia-uvm\n\nBlock devices:\n  7 loop\n";

TEST(PlanNodes, AfterABootWithEverythingLoaded) {
  const NodePlan plan = PlanNodes(
      {.devices = kLoaded, .params = {}, .gpus = {0, 1}, .existing = {"/dev/nvidia0", "/dev/nvidiactl"}});
  EXPECT_THAT(
      plan.nodes,
      ElementsAre(MissingNode{"/dev/nvidia1", 195, 1}, MissingNode{"/dev/nvidia-modeset", 195, 254},
                  MissingNode{"/dev/nvidia-uvm", 511, 0}, MissingNode{"/dev/nvidia-uvm-tools", 511, 1}));
  EXPECT_EQ(plan.owner, NodeOwner());
  EXPECT_EQ(plan.note,
            "CUDA needs device files that are not there (/dev/nvidia1, /dev/nvidia-modeset, /dev/nvidia-uvm, "
            "/dev/nvidia-uvm-tools): as root, run nvidia-modprobe -c=0 -u, once after each boot");
}

TEST(PlanNodes, AnOldDriverWithoutUvm) {
  const NodePlan plan = PlanNodes({.devices = "Character devices:\n195 nvidia-frontend\n",
                                   .params = {},
                                   .gpus = {0},
                                   .existing = {"/dev/nvidia0", "/dev/nvidiactl"}});
  EXPECT_THAT(plan.nodes, IsEmpty()) << "the number of a module that is not loaded is not known";
  EXPECT_THAT(plan.note, testing::HasSubstr("(/dev/nvidia-uvm)"));
}

TEST(PlanNodes, TheOperatorsSettingsHold) {
  const NodePlan owned = PlanNodes({.devices = kLoaded,
                                    .params = "ModifyDeviceFiles: 1\nDeviceFileUID: 7\nDeviceFileGID: 44\n"
                                              "DeviceFileMode: 432\n",
                                    .gpus = {}});
  EXPECT_EQ(owned.owner, (NodeOwner{7, 44, 0660}));
  const NodePlan left = PlanNodes({.devices = kLoaded, .params = "ModifyDeviceFiles: 0\n", .gpus = {}});
  EXPECT_THAT(left.nodes, IsEmpty());
  EXPECT_FALSE(left.note.empty());
}

TEST(PlanNodes, NothingIsMissing) {
  const NodePlan plan = PlanNodes({.devices = kLoaded,
                                   .params = {},
                                   .gpus = {0},
                                   .existing = {"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-modeset",
                                                "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"}});
  EXPECT_THAT(plan.nodes, IsEmpty());
  EXPECT_EQ(plan.note, "");
  EXPECT_EQ(PlanNodes({.devices = "Character devices:\n  1 mem\n 10 misc\n", .params = {}}).note, "");
  EXPECT_EQ(PlanNodes({.devices = "195\n nvidia\n195 \n", .params = "x"}).note, "") << "garbage";
}

}  // namespace
}  // namespace trainyard::placement
