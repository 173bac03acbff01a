#include "programs/node/inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "programs/node/nvml_gpus.h"

namespace trainyard::node::inventory_test {
namespace {

namespace fs = std::filesystem;
using placement::Device;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kNoLibrary = "libtrainyard-is-not-there.so";

/// A machine of files in a temporary folder.
class InventoryTest : public testing::Test {
 protected:
  InventoryTest() {
    std::string folder = testing::TempDir() + "node-XXXXXX";
    root_ = mkdtemp(folder.data());
  }
  ~InventoryTest() override {
    unsetenv("FAKE_NVML");
    fs::remove_all(root_);
  }
  void Write(const std::string& path, const std::string& text = "") {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  [[nodiscard]] Places Here(const std::string& nvml = kNoLibrary) const {
    return {.root = root_, .nvml = nvml};
  }

  std::string root_;
};

TEST_F(InventoryTest, ListsWhatNvmlLists) {
  const Inventory found = FindDevices(Here(FAKE_NVML));
  EXPECT_THAT(found.devices, ElementsAre(Device{.type = "nvidia-tesla-t4",
                                                .id = "GPU-11111111-2222-3333-4444-555555555555",
                                                .files = {"/dev/nvidia1"}},
                                         Device{.type = "nvidia-tesla-a100",
                                                .id = "GPU-66666666-7777-8888-9999-000000000000",
                                                .files = {"/dev/nvidia0"}}));
  EXPECT_THAT(found.notes, IsEmpty());
  EXPECT_THAT(found.details[1], HasSubstr("NVIDIA A100-SXM4-40GB, 40 GiB, GPU-6666"));
}

TEST_F(InventoryTest, AsksTheDriverWhereNvmlFails) {
  Write("/proc/driver/nvidia/gpus/0000:00:05.0/information",
        "Model: \t\t Tesla K80\nIRQ:   \t\t 24\nGPU UUID: \t GPU-b\nDevice Minor: \t 1\n");
  Write("/proc/driver/nvidia/gpus/0000:00:04.0/information",
        "Model: \t\t Tesla K80\nGPU UUID: \t GPU-?-?\nDevice Minor: \t 0\n");
  Write("/proc/driver/nvidia/gpus/0000:00:06.0/information", "garbage");
  Write("/dev/nvidia7");
  setenv("FAKE_NVML", "init", 1);
  const Inventory found = FindDevices(Here(FAKE_NVML));
  EXPECT_THAT(found.devices,
              ElementsAre(Device{.type = "nvidia-tesla-k80", .id = "0", .files = {"/dev/nvidia0"}},
                          Device{.type = "nvidia-tesla-k80", .id = "GPU-b", .files = {"/dev/nvidia1"}}));
  EXPECT_THAT(found.notes, ElementsAre("NVML does not answer (nvmlInit: Driver Not Loaded)"));
}

constexpr const char* kT4 = "GPU-11111111-2222-3333-4444-555555555555";
constexpr const char* kPart = "MIG-12345678-aaaa-bbbb-cccc-1234567890ab";
constexpr const char* kA100 = "GPU-66666666-7777-8888-9999-000000000000";

TEST_F(InventoryTest, OneLostGpuOfTwoIsNamedAndTheOtherStays) {
  setenv("FAKE_NVML", "handle:1", 1);
  const Inventory found = FindDevices(Here(FAKE_NVML));
  EXPECT_THAT(found.devices,
              ElementsAre(Device{.type = "nvidia-tesla-t4", .id = kT4, .files = {"/dev/nvidia1"}}));
  EXPECT_THAT(found.notes, ElementsAre("GPU 1 is not used (nvmlDeviceGetHandleByIndex: GPU is lost)"));
}

TEST_F(InventoryTest, AGpuWithoutAUuidIsNotUsed) {
  setenv("FAKE_NVML", "uuid:0", 1);
  const Inventory found = FindDevices(Here(FAKE_NVML));
  EXPECT_THAT(found.devices,
              ElementsAre(Device{.type = "nvidia-tesla-a100", .id = kA100, .files = {"/dev/nvidia0"}}));
  EXPECT_THAT(found.notes, ElementsAre("GPU 0 is not used (nvmlDeviceGetUUID: Not Supported)"));
}

TEST_F(InventoryTest, NameAndMemoryMayBeUnknown) {
  setenv("FAKE_NVML", "name:0,memory:1", 1);
  const Inventory found = FindDevices(Here(FAKE_NVML));
  EXPECT_EQ(found.devices.size(), 2U);
  EXPECT_EQ(found.devices[0].type, "nvidia-gpu");
  EXPECT_THAT(found.notes, ElementsAre(std::string(kT4) + ": nvmlDeviceGetName: GPU is lost",
                                       std::string(kA100) + ": nvmlDeviceGetMemoryInfo: GPU is lost"));
  EXPECT_EQ(found.details[1], "NVIDIA A100-SXM4-40GB, " + std::string(kA100) + ", /dev/nvidia0");
}

TEST_F(InventoryTest, WslHasNoMinorNumbers) {
  Write("/dev/dxg");
  setenv("FAKE_NVML", "minor:0,minor:1", 1);
  const Inventory found = FindDevices(Here(FAKE_NVML));
  EXPECT_THAT(found.devices, ElementsAre(Device{.type = "nvidia-tesla-t4", .id = kT4, .files = {}},
                                         Device{.type = "nvidia-tesla-a100", .id = kA100, .files = {}}));
  EXPECT_THAT(found.notes, IsEmpty());
  EXPECT_THAT(AcceleratorFiles(Here()), ElementsAre("/dev/dxg"));
}

TEST_F(InventoryTest, MigDevicesTakeTheirGpusPlace) {
  const std::string instance = "/proc/driver/nvidia/capabilities/gpu0/mig/gi7";
  Write(instance + "/access", "DeviceFileMinor: 66\nDeviceFileMode: 292\nDeviceFileModify: 1\n");
  Write(instance + "/ci0/access", "DeviceFileMinor: 67\nDeviceFileMode: 292\nDeviceFileModify: 1\n");
  for (const char* file : {"/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap67"}) Write(file);
  setenv("FAKE_NVML", "mig:1", 1);
  const Inventory found = FindDevices(Here(FAKE_NVML));
  EXPECT_THAT(found.devices,
              ElementsAre(Device{.type = "nvidia-tesla-t4", .id = kT4, .files = {"/dev/nvidia1"}},
                          Device{.type = "nvidia-a100-sxm4-40gb-mig-1g-5gb",
                                 .id = kPart,
                                 .files = {"/dev/nvidia-caps/nvidia-cap67", "/dev/nvidia-caps/nvidia-cap66",
                                           "/dev/nvidia0"}}));
  EXPECT_EQ(found.signs.at(kPart).uuid, kA100);
  EXPECT_THAT(AcceleratorFiles(Here()),
              ElementsAre("/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia-caps/nvidia-cap67"));
}

TEST_F(InventoryTest, MigThatCannotBeUsedIsNamed) {
  setenv("FAKE_NVML", "mig:0,mig:1", 1);
  const Inventory found = FindDevices(Here(FAKE_NVML));
  EXPECT_THAT(found.devices, IsEmpty());
  EXPECT_THAT(found.notes,
              ElementsAre(HasSubstr("MIG is enabled and it has no MIG devices"),
                          std::string(kPart) + " is not used, because its device files are not known"));
}

TEST_F(InventoryTest, TheDriverKnowsTheMinorNumberThatNvmlDoesNot) {
  Write("/proc/driver/nvidia/gpus/0000:00:05.0/information",
        "Model: \t\t Tesla T4\nGPU UUID: \t " + std::string(kT4) + "\nDevice Minor: \t 1\n");
  setenv("FAKE_NVML", "minor:0,minor:1", 1);
  const Inventory found = FindDevices(Here(FAKE_NVML));
  EXPECT_THAT(found.devices,
              ElementsAre(Device{.type = "nvidia-tesla-t4", .id = kT4, .files = {"/dev/nvidia1"}}));
  EXPECT_THAT(found.notes,
              ElementsAre(std::string(kA100) + " is not used, because its device files are not known"));
}

TEST_F(InventoryTest, ALibraryThatIsNoneIsAnError) {
  EXPECT_EQ(AskNvml(kNoLibrary).error().code, Code::kNotFound);
  EXPECT_EQ(AskNvml("libm.so.6").error(), Unavailable("the library has no nvmlInit_v2"));
}

TEST_F(InventoryTest, CountsDeviceFilesWhereNothingElseIsThere) {
  for (const char* file :
       {"/dev/nvidia10", "/dev/nvidia2", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia1x"})
    Write(file);
  const Inventory found = FindDevices(Here());
  EXPECT_THAT(found.devices,
              ElementsAre(Device{.type = "nvidia-gpu", .id = "0", .files = {"/dev/nvidia2"}},
                          Device{.type = "nvidia-gpu", .id = "1", .files = {"/dev/nvidia10"}}));
  EXPECT_THAT(AcceleratorFiles(Here()), ElementsAre("/dev/nvidia2", "/dev/nvidia10"));
}

TEST_F(InventoryTest, MakesTheFilesThatNothingMakesAfterABoot) {
  Write("/proc/devices", "Character devices:\n195 nvidia\n511 nvidia-uvm\n");
  Write("/dev/nvidia0");
  Write("/dev/nvidiactl");
  EXPECT_THAT(
      FindDevices(Here()).notes,
      ElementsAre(HasSubstr("(/dev/nvidia-uvm, /dev/nvidia-uvm-tools): as root, run nvidia-modprobe")));
  const auto made = MakeDeviceNodes(Here());
  if (made.empty()) GTEST_SKIP() << "needs the right to make device files";
  EXPECT_THAT(made, ElementsAre("/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"));
  struct stat tools{};
  ASSERT_EQ(stat((root_ + "/dev/nvidia-uvm-tools").c_str(), &tools), 0);
  EXPECT_EQ(tools.st_rdev, makedev(511, 1));
  EXPECT_EQ(tools.st_mode, S_IFCHR | 0666U);
  EXPECT_THAT(FindDevices(Here()).notes, IsEmpty());
  EXPECT_THAT(MakeDeviceNodes(Here()), IsEmpty());
}

TEST_F(InventoryTest, GooglesChipsAreOneBoard) {
  for (const char* file :
       {"/dev/accel0", "/dev/accel1", "/dev/accel2", "/dev/vfio/3", "/dev/vfio/4", "/dev/vfio/vfio"})
    Write(file);
  Write("/sys/class/accel/accel1/device/vendor", "0x1ae0\n");
  Write("/sys/class/accel/accel2/device/vendor", "0x8086\n");
  Write("/sys/kernel/iommu_groups/3/devices/0000:00:01.0/vendor", "0x10de\n");
  Write("/sys/kernel/iommu_groups/4/devices/0000:00:02.0/vendor", "0x1ae0\n");
  const Inventory found = FindDevices(Here());
  EXPECT_THAT(found.devices, ElementsAre(Device{.kind = Device::Kind::kTpu,
                                                .type = "tpu",
                                                .id = "0",
                                                .files = {"/dev/accel0", "/dev/accel1", "/dev/vfio/4"}}));
}

TEST_F(InventoryTest, AMachineWithoutAny) {
  const Inventory found = FindDevices(Here());
  EXPECT_THAT(found.devices, IsEmpty());
  EXPECT_THAT(found.notes, IsEmpty()) << "no library is the usual case";
  EXPECT_THAT(AcceleratorFiles(Here()), IsEmpty());
}

TEST(GpuType, KnowsTheTypesOfTheApisAndSpellsTheOthers) {
  struct Row {
    const char* name;
    const char* type;
  };
  const Row rows[] = {{"Tesla K80", "nvidia-tesla-k80"},
                      {"Tesla P4", "nvidia-tesla-p4"},
                      {"Tesla P100-PCIE-16GB", "nvidia-tesla-p100"},
                      {"Tesla V100-SXM2-32GB", "nvidia-tesla-v100"},
                      {"Tesla T4", "nvidia-tesla-t4"},
                      {"NVIDIA A100-SXM4-40GB", "nvidia-tesla-a100"},
                      {"A100-PCIE-40GB", "nvidia-tesla-a100"},
                      {"NVIDIA A100-SXM4-80GB", "nvidia-a100-80gb"},
                      {"NVIDIA A100 80GB PCIe", "nvidia-a100-80gb"},
                      {"NVIDIA A100-SXM-64GB", "nvidia-tesla-a100"},
                      {"NVIDIA H100 80GB HBM3", "nvidia-h100-80gb"},
                      {"NVIDIA H100 PCIe", "nvidia-h100-80gb"},
                      {"NVIDIA H100 NVL", "nvidia-h100-nvl"},
                      {"NVIDIA H200", "nvidia-h200-141gb"},
                      {"NVIDIA H200 NVL", "nvidia-h200-141gb"},
                      {"NVIDIA GH200 480GB", "nvidia-gh200-480gb"},
                      {"NVIDIA B200", "nvidia-b200"},
                      {"NVIDIA GB200", "nvidia-gb200"},
                      {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "nvidia-rtx-pro-6000"},
                      {"NVIDIA RTX 6000 Ada Generation", "nvidia-rtx-6000-ada-generation"},
                      {"NVIDIA L4", "nvidia-l4"},
                      {"NVIDIA L40S", "nvidia-l40s"},
                      {"NVIDIA GeForce RTX 3090", "nvidia-geforce-rtx-3090"},
                      {"Quadro P4000", "nvidia-quadro-p4000"},
                      {"NVIDIA A100-SXM4-40GB MIG 1g.5gb", "nvidia-a100-sxm4-40gb-mig-1g-5gb"},
                      {"NVIDIA H100 80GB HBM3 MIG 1g.10gb", "nvidia-h100-80gb-hbm3-mig-1g-10gb"},
                      {"", "nvidia-gpu"}};
  for (const Row& row : rows) EXPECT_EQ(GpuType(row.name), row.type) << row.name;
}

}  // namespace
}  // namespace trainyard::node::inventory_test
