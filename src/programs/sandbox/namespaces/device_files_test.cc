#include "programs/sandbox/namespaces/device_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>

#include "base/async/testing/temporary_folder.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

/// Here /dev/zero and /dev/full play the files that all GPUs share, and /dev/null a GPU's.
class DeviceFilesTest : public testing::Test {
 protected:
  DeviceFilesTest() {
    places_ = {.cdi_folders = {folder_.path() + "/cdi"},
               .library_folders = {folder_.path() + "/lib"},
               .shared_nodes = {"/dev/zero", "/dev/no-such"},
               .wsl_node = "/dev/no-such",
               .wsl_folder = "/usr/lib/wsl"};
    fs::create_directories(folder_.path() + "/cdi");
    fs::create_directories(folder_.path() + "/lib");
  }
  void Write(const std::string& path, const std::string& text) {
    std::ofstream(folder_.path() + path) << text;
  }
  static std::vector<std::string> Paths(const DeviceFiles& files) {
    std::vector<std::string> paths;
    for (const auto& node : files.nodes) paths.push_back(node.path);
    return paths;
  }

  TemporaryFolder folder_;
  DevicePlaces places_;
  v1::Devices devices_;
};

TEST_F(DeviceFilesTest, NothingForAReplicaWithoutAccelerators) {
  const DeviceFiles files = FindDeviceFiles(devices_, places_);
  EXPECT_THAT(Paths(files), IsEmpty());
  EXPECT_THAT(files.binds, IsEmpty());
}

TEST_F(DeviceFilesTest, BindsTheDriverWhereThereIsNoCdiFile) {
  Write("/lib/libcuda.so.550.1", "");
  Write("/lib/libc.so.6", "");
  Write("/lib/libnvidia-ml.so.1", "");
  fs::create_symlink("libcuda.so.550.1", folder_.path() + "/lib/libcuda.so.1");
  fs::create_symlink("gone", folder_.path() + "/lib/libnvidia-gone.so");
  devices_.add_gpus("GPU-1");
  devices_.add_device_files("/dev/null");
  const DeviceFiles files = FindDeviceFiles(devices_, places_);
  EXPECT_THAT(Paths(files), ElementsAre("/dev/null", "/dev/zero"));
  EXPECT_EQ(files.nodes[0], (container::DeviceNode{"/dev/null", 'c', 1, 3}));
  std::vector<std::string> destinations;
  for (const auto& bind : files.binds) {
    if (bind.destination.starts_with("/usr/local/nvidia/"))
      destinations.push_back(fs::path(bind.destination).filename());
    EXPECT_TRUE(bind.read_only);
  }
  EXPECT_THAT(destinations,
              testing::UnorderedElementsAre("libcuda.so.1", "libcuda.so.550.1", "libnvidia-ml.so.1"));
  EXPECT_THAT(files.environment, ElementsAre("LD_LIBRARY_PATH=/usr/local/nvidia/lib64"));
  EXPECT_EQ(files.note, "");
}

TEST_F(DeviceFilesTest, SaysWhetherOthersGpusCanBeOpened) {
  devices_.add_gpus("0");
  EXPECT_TRUE(FindDeviceFiles(devices_, places_).has_other_gpus) << "a declared GPU may be any";
  devices_.add_device_files("/dev/nvidia0");
  EXPECT_FALSE(FindDeviceFiles(devices_, places_).has_other_gpus);
}

TEST_F(DeviceFilesTest, SaysThatTheDriverIsNotFound) {
  devices_.add_gpus("GPU-1");
  devices_.add_device_files("/dev/null");
  EXPECT_THAT(FindDeviceFiles(devices_, places_).note, testing::HasSubstr("nvidia-ctk cdi generate"));
}

TEST_F(DeviceFilesTest, PrefersTheCdiFile) {
  Write("/lib/libcuda.so.550.1", "");
  Write("/cdi/other.yaml", "kind: vendor.com/net\ndevices: [{name: GPU-1}]\n");
  Write("/cdi/nvidia.yaml", R"(kind: nvidia.com/gpu
containerEdits:
  env: [NVIDIA_VISIBLE_DEVICES=void]
  deviceNodes: [{path: /dev/full}]
  mounts: [{hostPath: /etc/hostname, containerPath: /x, options: [ro]}]
  hooks: [{hookName: createContainer, path: /bin/true, args: ["true"]}]
devices:
- name: GPU-1
  containerEdits: {deviceNodes: [{path: /dev/gpu, hostPath: /dev/null}]}
)");
  devices_.add_gpus("GPU-1");
  const DeviceFiles files = FindDeviceFiles(devices_, places_);
  EXPECT_THAT(Paths(files), ElementsAre("/dev/full", "/dev/gpu"));
  EXPECT_THAT(files.binds, ElementsAre(container::Bind{"/etc/hostname", "/x", true}));
  EXPECT_EQ(files.hooks.size(), 1U);
  EXPECT_THAT(files.environment, ElementsAre("NVIDIA_VISIBLE_DEVICES=void"));
  EXPECT_THAT(files.cdi_names, ElementsAre("nvidia.com/gpu=GPU-1"));
}

TEST_F(DeviceFilesTest, APartOfAGpuIsNotTheWholeGpuOfACdiFile) {
  Write("/lib/libcuda.so.1", "");
  Write("/cdi/nvidia.yaml", R"(kind: nvidia.com/gpu
devices:
- name: "0"
  containerEdits: {deviceNodes: [{path: /dev/null}]}
- name: MIG-a
  containerEdits: {deviceNodes: [{path: /dev/full}]}
)");
  devices_.add_device_files("/dev/null");
  devices_.add_gpus("MIG-a");
  EXPECT_THAT(FindDeviceFiles(devices_, places_).cdi_names, ElementsAre("nvidia.com/gpu=MIG-a"));
  devices_.set_gpus(0, "MIG-b");
  EXPECT_THAT(FindDeviceFiles(devices_, places_).cdi_names, IsEmpty());
}

TEST_F(DeviceFilesTest, OnWslAContainerHasTheDriverOfWindows) {
  places_.wsl_node = "/dev/full";
  devices_.add_gpus("GPU-1");
  const DeviceFiles files = FindDeviceFiles(devices_, places_);
  EXPECT_THAT(Paths(files), ElementsAre("/dev/full"));
  EXPECT_THAT(files.binds, ElementsAre(container::Bind{"/usr/lib/wsl", "/usr/lib/wsl", true}));
  EXPECT_THAT(files.environment, ElementsAre("LD_LIBRARY_PATH=/usr/lib/wsl/lib"));
  Write("/cdi/nvidia.yaml", "kind: nvidia.com/gpu\ndevices:\n- name: all\n  containerEdits: {env: [A=b]}\n");
  EXPECT_THAT(FindDeviceFiles(devices_, places_).cdi_names, ElementsAre("nvidia.com/gpu=all"));
}

TEST_F(DeviceFilesTest, WhatOfACdiFileIsNotUsedIsSaid) {
  Write("/lib/libcuda.so.1", "");
  Write("/cdi/nvidia.yaml",
        "{kind: nvidia.com/gpu, devices: [{name: GPU-1, containerEdits: {additionalGids: [44]}}]}");
  devices_.add_gpus("GPU-1");
  EXPECT_EQ(FindDeviceFiles(devices_, places_).note, "The CDI file's additionalGids is not used.");
  devices_.set_gpus(0, "GPU-2");
  EXPECT_THAT(FindDeviceFiles(devices_, places_).note,
              testing::HasSubstr("No CDI file of this machine describes the replica's GPUs"));
}

TEST_F(DeviceFilesTest, ADamagedCdiFileIsSaid) {
  Write("/cdi/nvidia.yaml", "kind: [");
  Write("/lib/libcuda.so.1", "");
  devices_.add_gpus("GPU-1");
  devices_.add_device_files("/dev/null");
  const DeviceFiles files = FindDeviceFiles(devices_, places_);
  EXPECT_THAT(files.note, testing::HasSubstr("nvidia.yaml cannot be used"));
  EXPECT_THAT(files.environment, Contains("LD_LIBRARY_PATH=/usr/local/nvidia/lib64"));
}

TEST_F(DeviceFilesTest, TpusAreTheirFiles) {
  devices_.set_tpu_node_name("tpu");
  devices_.add_device_files("/dev/full");
  const DeviceFiles files = FindDeviceFiles(devices_, places_);
  EXPECT_THAT(Paths(files), ElementsAre("/dev/full"));
  EXPECT_THAT(files.binds, IsEmpty());
}

}  // namespace
}  // namespace trainyard::replica
