#include "rules/cluster/machine_type.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::cluster {
namespace {

TEST(MachineType, TheTableIsComplete) {
  EXPECT_EQ(MachineTypes().size(), 22U + 15U + 141U);
  for (const MachineType& type : MachineTypes()) {
    EXPECT_EQ(FindMachineType(type.name), &type);
    EXPECT_GT(type.units_per_hour, 0) << type.name;
    if (type.category == MachineType::Category::kCloudTpu) continue;
    EXPECT_GT(type.vcpus, 0) << type.name;
    EXPECT_GT(type.memory_bytes(), 0) << type.name;
  }
  EXPECT_EQ(FindMachineType("n1-standard-2"), nullptr);
  EXPECT_EQ(FindMachineType(""), nullptr);
}

TEST(MachineType, LegacyTypesAreTheirEquivalentWithAccelerators) {
  const MachineType* legacy = FindMachineType("complex_model_m_gpu");
  ASSERT_NE(legacy, nullptr);
  EXPECT_EQ(legacy->category, MachineType::Category::kLegacy);
  EXPECT_EQ(legacy->equivalent, "n1-standard-16");
  EXPECT_EQ(legacy->accelerators, (Accelerators{AcceleratorConfig::NVIDIA_TESLA_K80, 4}));
  EXPECT_EQ(FindMachineType("n1-highcpu-16")->memory_bytes(), 15461882266);  // 14.4 * 2^30
}

TEST(AcceleratorType, EveryOneIsAGpuOrATpu) {
  for (int number = 0; number < AcceleratorConfig::Type_ARRAYSIZE; ++number) {
    const auto type = static_cast<AcceleratorConfig::Type>(number);
    const bool is_a_device = AcceleratorConfig::Type_IsValid(number) && number != 0;
    EXPECT_EQ(IsGpu(type) + IsTpu(type), is_a_device ? 1 : 0) << AcceleratorConfig::Type_Name(type);
  }
  EXPECT_TRUE(IsGpu(AcceleratorConfig::NVIDIA_TESLA_A100));
  EXPECT_TRUE(IsTpu(AcceleratorConfig::TPU_V4_POD));
  EXPECT_LT(AcceleratorConfig::Type_MAX, 32) << "regions keep types as bits";
}

TEST(AcceleratorType, ThoseThatOnlyVertexHasAreKnown) {
  for (const auto type : {AcceleratorConfig::NVIDIA_TESLA_A100, AcceleratorConfig::TPU_V4_POD})
    EXPECT_FALSE(IsOfVertex(type)) << AcceleratorConfig::Type_Name(type);
  for (const auto type : {AcceleratorConfig::NVIDIA_A100_80GB, AcceleratorConfig::NVIDIA_RTX_PRO_6000,
                          AcceleratorConfig::TPU_V5_LITEPOD})
    EXPECT_TRUE(IsOfVertex(type)) << AcceleratorConfig::Type_Name(type);
}

TEST(MachineType, ThoseOfVertexBringTheirAccelerators) {
  struct Row {
    const char* name;
    double vcpus;
    double memory_gb;
    Accelerators accelerators;
  };
  const Row rows[] = {{"e2-standard-4", 4, 16, {}},
                      {"m1-megamem-96", 96, 1433.6, {}},
                      {"g2-standard-24", 24, 96, {AcceleratorConfig::NVIDIA_L4, 2}},
                      {"a2-ultragpu-1g", 12, 170, {AcceleratorConfig::NVIDIA_A100_80GB, 1}},
                      {"a3-highgpu-8g", 208, 1872, {AcceleratorConfig::NVIDIA_H100_80GB, 8}},
                      {"a3-megagpu-8g", 208, 1872, {AcceleratorConfig::NVIDIA_H100_MEGA_80GB, 8}},
                      {"a3-ultragpu-8g", 224, 2952, {AcceleratorConfig::NVIDIA_H200_141GB, 8}},
                      {"a4-highgpu-8g", 224, 3968, {AcceleratorConfig::NVIDIA_B200, 8}},
                      {"cloud-tpu", 96, 334, {AcceleratorConfig::TPU_V2, 8}},
                      {"ct5lp-hightpu-4t", 112, 192, {AcceleratorConfig::TPU_V5_LITEPOD, 4}}};
  for (const Row& row : rows) {
    const MachineType* type = FindMachineType(row.name);
    ASSERT_NE(type, nullptr) << row.name;
    EXPECT_TRUE(type->is_of_vertex) << row.name;
    EXPECT_EQ(type->vcpus, row.vcpus) << row.name;
    EXPECT_EQ(type->memory_gb, row.memory_gb) << row.name;
    EXPECT_EQ(type->accelerators, row.accelerators) << row.name;
  }
  EXPECT_FALSE(FindMachineType("a2-highgpu-1g")->is_of_vertex);
}

struct Limit {
  AcceleratorConfig::Type type;
  double vcpus;
  double memory_gb;
  std::int64_t count_max;
};
// The machine resources that one GPU allows: with them the rule "enough GPUs for the machine" gives every N1
// cell of the public table, which is how the table's lost columns were restored (spec cluster.md section 4).
constexpr Limit kLimits[] = {
    {AcceleratorConfig::NVIDIA_TESLA_K80, 8, 52, 8},    {AcceleratorConfig::NVIDIA_TESLA_P4, 24, 156, 4},
    {AcceleratorConfig::NVIDIA_TESLA_P100, 16, 104, 4}, {AcceleratorConfig::NVIDIA_TESLA_T4, 24, 156, 4},
    {AcceleratorConfig::NVIDIA_TESLA_V100, 12, 78, 8},
};

bool RuleAllows(const MachineType& machine, const Limit& limit, std::int64_t count) {
  if (count != 1 && count != 2 && count != 4 && count != 8) return false;
  if (count > limit.count_max) return false;
  if (limit.type == AcceleratorConfig::NVIDIA_TESLA_K80 && count == 8 && machine.memory_gb > 208)
    return false;
  if (limit.type == AcceleratorConfig::NVIDIA_TESLA_P100 && (machine.vcpus > 64 || machine.memory_gb > 208)) {
    return false;
  }
  const auto gpus = static_cast<double>(count);
  return machine.vcpus <= limit.vcpus * gpus && machine.memory_gb <= limit.memory_gb * gpus;
}

TEST(GpusAllowed, EveryCellOfTheMatrixFollowsFromTheLimitsOfTheGpus) {
  int allowed = 0;
  for (const MachineType& machine : MachineTypes()) {
    for (int type = 0; type < AcceleratorConfig::Type_ARRAYSIZE; ++type) {
      for (std::int64_t count = 0; count <= 17; ++count) {
        const Accelerators gpus{static_cast<AcceleratorConfig::Type>(type), count};
        const bool brings = count > 0 && machine.category == MachineType::Category::kComputeEngine;
        bool expected = brings && machine.accelerators == gpus;
        if (machine.name == "cloud-tpu")
          expected = count == 8 && (type == AcceleratorConfig::TPU_V2 || type == AcceleratorConfig::TPU_V3 ||
                                    type == AcceleratorConfig::TPU_V4_POD);
        for (const Limit& limit : kLimits) {
          if (limit.type == type && machine.name.starts_with("n1-"))
            expected = RuleAllows(machine, limit, count);
        }
        EXPECT_EQ(GpusAllowed(machine.name, gpus), expected) << machine.name << ' ' << type << " x " << count;
        allowed += GpusAllowed(machine.name, gpus);
      }
    }
  }
  EXPECT_GT(allowed, 150);
}

TEST(UnitsPerHour, GpusOfComputeEngineTypesAreChargedApart) {
  const Accelerators k80{AcceleratorConfig::NVIDIA_TESLA_K80, 1};
  EXPECT_NEAR(UnitsPerHour(*FindMachineType("n1-standard-8"), k80), 1.6939, 0.0001);
  EXPECT_NEAR(UnitsPerHour(*FindMachineType("standard_gpu"), k80), 1.6939, 0.0001);
  EXPECT_NEAR(UnitsPerHour(*FindMachineType("n1-highmem-16"), {}), 1.9331, 0.0001);
}

}  // namespace
}  // namespace trainyard::cluster
