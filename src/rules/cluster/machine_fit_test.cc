#include "rules/cluster/machine_fit.h"

#include <gtest/gtest.h>

namespace trainyard::cluster {
namespace {

TEST(MachineFit, NamesTheTypesOfASeries) {
  EXPECT_EQ(MachineTypeHint("c2-standard-5"),
            "There are: c2-standard-4, c2-standard-8, c2-standard-16, c2-standard-30, c2-standard-60.");
  EXPECT_EQ(MachineTypeHint("a2-highgpu-3g"),
            "There are: a2-highgpu-1g, a2-highgpu-2g, a2-highgpu-4g, a2-highgpu-8g.");
  EXPECT_EQ(MachineTypeHint("standrd"), "Did you mean 'standard'?");
  EXPECT_EQ(MachineTypeHint("g2-standart-4"), "Did you mean 'g2-standard-4'?");
  EXPECT_EQ(MachineTypeHint("zzz"), "");
  EXPECT_EQ(MachineTypeHint(""), "");
}

TEST(MachineFit, SaysWhatATypeMayHave) {
  EXPECT_EQ(AllowedCounts("n1-standard-16", AcceleratorConfig::NVIDIA_TESLA_V100), "2, 4, 8");
  EXPECT_EQ(AllowedCounts("g2-standard-48", AcceleratorConfig::NVIDIA_L4), "4");
  EXPECT_EQ(AllowedCounts("cloud-tpu", AcceleratorConfig::TPU_V3), "8");
  EXPECT_EQ(AllowedCounts("n1-standard-16", AcceleratorConfig::NVIDIA_L4), "");
  EXPECT_EQ(AllowedCounts("nothing", AcceleratorConfig::NVIDIA_L4), "");
}

TEST(MachineFit, NamesTheTypesForAccelerators) {
  EXPECT_EQ(MachineTypesWith({AcceleratorConfig::NVIDIA_H100_80GB, 8}), "a3-highgpu-8g");
  EXPECT_EQ(MachineTypesWith({AcceleratorConfig::NVIDIA_TESLA_A100, 1}), "a2-highgpu-1g");
  EXPECT_EQ(MachineTypesWith({AcceleratorConfig::NVIDIA_L4, 3}), "none");
  EXPECT_EQ(FitsOf(AcceleratorConfig::NVIDIA_RTX_PRO_6000),
            "g4-standard-48 (1), g4-standard-96 (2), g4-standard-192 (4), g4-standard-384 (8)");
  EXPECT_EQ(FitsOf(AcceleratorConfig::TPU_V4_POD), "cloud-tpu (8)");
  EXPECT_EQ(FitsOf(AcceleratorConfig::TPU_V3_POD), "");
}

}  // namespace
}  // namespace trainyard::cluster
