#include "programs/node/device_looks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace trainyard::node {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kT4 = "GPU-11111111-2222-3333-4444-555555555555";
constexpr const char* kA100 = "GPU-66666666-7777-8888-9999-000000000000";

/// A machine without files, on which NVML lists two GPUs.
class DeviceLooksTest : public testing::Test {
 protected:
  DeviceLooksTest() {
    std::string folder = testing::TempDir() + "looks-XXXXXX";
    root_ = mkdtemp(folder.data());
    looks_.emplace(Places{.root = root_, .nvml = FAKE_NVML});
  }
  ~DeviceLooksTest() override {
    unsetenv("FAKE_NVML");
    std::filesystem::remove_all(root_);
  }
  std::string root_;
  std::optional<DeviceLooks> looks_;
};

std::vector<std::string> IdsOf(const DeviceLooks::Look& look) {
  std::vector<std::string> ids;
  for (const auto& signs : look.devices) ids.push_back(signs.device.id);
  return ids;
}

TEST_F(DeviceLooksTest, AGpuFallsOffAndComesBack) {
  EXPECT_THAT(IdsOf(looks_->Take()), ElementsAre(kT4, kA100));
  setenv("FAKE_NVML", "handle:0", 1);
  const DeviceLooks::Look lost = looks_->Take();
  EXPECT_THAT(IdsOf(lost), ElementsAre(kA100));
  EXPECT_THAT(lost.notes, ElementsAre("GPU 0 is not used (nvmlDeviceGetHandleByIndex: GPU is lost)"));
  unsetenv("FAKE_NVML");
  EXPECT_THAT(IdsOf(looks_->Take()), ElementsAre(kT4, kA100));
}

TEST_F(DeviceLooksTest, ErrorsBetweenLooksAreSeenOnce) {
  EXPECT_THAT(looks_->Take().devices[1].xids, IsEmpty());
  setenv("FAKE_NVML", "xid79:1", 1);
  const DeviceLooks::Look look = looks_->Take();
  EXPECT_THAT(look.devices[0].xids, IsEmpty());
  EXPECT_THAT(look.devices[1].xids, ElementsAre(79U));
  EXPECT_THAT(looks_->Take().devices[1].xids, IsEmpty());
}

TEST_F(DeviceLooksTest, MemoryErrorsAreCounted) {
  setenv("FAKE_NVML", "ecc:0", 1);
  const DeviceLooks::Look look = looks_->Take();
  EXPECT_EQ(look.devices[0].memory_errors, 2U);
  EXPECT_EQ(look.devices[1].memory_errors, 0U);
}

TEST_F(DeviceLooksTest, ADriverThatStopsAnsweringHasNoGpus) {
  std::filesystem::create_directories(root_ + "/dev");
  std::ofstream(root_ + "/dev/nvidia0");
  EXPECT_THAT(looks_->Take().devices, SizeIs(2));
  setenv("FAKE_NVML", "init", 1);
  EXPECT_THAT(IdsOf(looks_->Take()), IsEmpty()) << "the device file is there, but no program could use it";
  unsetenv("FAKE_NVML");
  EXPECT_THAT(looks_->Take().devices, SizeIs(2));
}

TEST_F(DeviceLooksTest, WithoutEventsTheDevicesStay) {
  setenv("FAKE_NVML", "events:0,events:1", 1);
  const DeviceLooks::Look look = looks_->Take();
  EXPECT_THAT(look.devices, SizeIs(2));
  EXPECT_THAT(look.notes,
              ElementsAre("errors (Xid) of GPUs are not reported here (nvmlDeviceRegisterEvents: error 3)"));
}

TEST_F(DeviceLooksTest, AGpuWithoutEventsDoesNotHideTheErrorsOfTheOthers) {
  setenv("FAKE_NVML", "events:0", 1);
  const std::string note =
      std::string("errors (Xid) of ") + kT4 + " are not reported (nvmlDeviceRegisterEvents: error 3)";
  EXPECT_THAT(looks_->Take().notes, ElementsAre(note));
  setenv("FAKE_NVML", "events:0,xid79:1", 1);
  const DeviceLooks::Look look = looks_->Take();
  EXPECT_THAT(look.devices[1].xids, ElementsAre(79U));
  EXPECT_THAT(look.notes, ElementsAre(note)) << "it is said as long as it is so";
}

}  // namespace
}  // namespace trainyard::node
