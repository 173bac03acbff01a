#include "rules/container/cdi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::container {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kYaml = R"(---
cdiVersion: 0.5.0
kind: nvidia.com/gpu
containerEdits:
  deviceNodes:
  - path: /dev/nvidiactl
  - path: /dev/nvidia-uvm
  env: [NVIDIA_VISIBLE_DEVICES=void]
  hooks:
  - hookName: createContainer
    path: /usr/bin/nvidia-cdi-hook
    args: [nvidia-cdi-hook, update-ldcache, --folder, /usr/lib/x86_64-linux-gnu]
  mounts:
  - hostPath: /usr/lib/x86_64-linux-gnu/libcuda.so.550.1
    containerPath: /usr/lib/x86_64-linux-gnu/libcuda.so.550.1
    options: [ro, nosuid, nodev, bind]
devices:
- name: "0"
  containerEdits:
    deviceNodes: [{path: /dev/nvidia0}]
- name: GPU-1234
  containerEdits:
    deviceNodes: [{path: /dev/nvidia1, hostPath: /run/nvidia1}]
- name: all
  containerEdits:
    deviceNodes: [{path: /dev/nvidia0}, {path: /dev/nvidia1}]
)";

std::vector<std::string> Paths(const CdiEdits& edits) {
  std::vector<std::string> paths;
  for (const auto& node : edits.nodes) paths.push_back(node.host_path);
  return paths;
}

TEST(CdiTest, GivesWhatDevicesNeed) {
  const auto spec = ParseCdi(kYaml);
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->kind, "nvidia.com/gpu");
  const auto edits = EditsFor(*spec, {"GPU-1234", "0"});
  ASSERT_TRUE(edits);
  EXPECT_THAT(Paths(*edits),
              ElementsAre("/dev/nvidiactl", "/dev/nvidia-uvm", "/run/nvidia1", "/dev/nvidia0"));
  EXPECT_EQ(edits->nodes[2].path, "/dev/nvidia1");
  EXPECT_THAT(edits->environment, ElementsAre("NVIDIA_VISIBLE_DEVICES=void"));
  ASSERT_EQ(edits->binds.size(), 1U);
  EXPECT_TRUE(edits->binds[0].read_only);
  ASSERT_EQ(edits->hooks.size(), 1U);
  EXPECT_EQ(edits->hooks[0].stage, "createContainer");
  EXPECT_THAT(edits->hooks[0].args, testing::Contains("update-ldcache"));
}

TEST(CdiTest, KnowsADeviceByItsFile) {
  const auto spec = ParseCdi(kYaml);
  ASSERT_TRUE(spec);
  const auto edits = EditsFor(*spec, {"/dev/nvidia0"});
  ASSERT_TRUE(edits);
  EXPECT_THAT(Paths(*edits), testing::Contains("/dev/nvidia0"));
}

TEST(CdiTest, SaysWhatIsNotThere) {
  const auto spec = ParseCdi(kYaml);
  ASSERT_TRUE(spec);
  const auto edits = EditsFor(*spec, {"0", "GPU-9"});
  ASSERT_FALSE(edits);
  EXPECT_EQ(edits.error(), NotFound("it has no device GPU-9"));
}

TEST(CdiTest, ReadsJson) {
  const auto spec = ParseCdi(
      R"({"cdiVersion":"0.6.0","kind":"nvidia.com/gpu","devices":[{"name":"0","containerEdits":{"env":["A=b"]}}]})");
  ASSERT_TRUE(spec);
  EXPECT_EQ(EditsFor(*spec, {"0"})->environment, std::vector<std::string>{"A=b"});
}

TEST(CdiTest, RefusesWhatIsNone) {
  for (const char* text : {"", "[]", "kind", "{}", "a: [", "kind: {}", "devices: 3"}) {
    const auto spec = ParseCdi(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_EQ(spec.error().code, Code::kDataLoss);
  }
}

TEST(CdiTest, NamesWhatItDoesNotRead) {
  const auto spec = ParseCdi(R"({kind: x/y, containerEdits: {additionalGids: [44], env: [A=b]}, devices: [
      {name: a, containerEdits: {mounts: [{hostPath: tmpfs, containerPath: /t, type: tmpfs}]}}]})");
  ASSERT_TRUE(spec);
  EXPECT_EQ(EditsFor(*spec, {"a"}),
            (CdiEdits{.environment = {"A=b"}, .left_out = {"additionalGids", "mount of type tmpfs"}}));
}

TEST(CdiTest, SkipsWhatItDoesNotKnow) {
  const auto spec =
      ParseCdi("{kind: x/y, devices: [1, {name: a, containerEdits: {mounts: [{hostPath: /a}], env: 3}}]}");
  ASSERT_TRUE(spec);
  EXPECT_EQ(EditsFor(*spec, {"a"}), CdiEdits());
}

}  // namespace
}  // namespace trainyard::container
