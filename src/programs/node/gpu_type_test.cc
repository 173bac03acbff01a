#include "programs/node/gpu_type.h"

#include <gtest/gtest.h>

namespace trainyard::node {
namespace {

TEST(GpuType, KnowsTheOriginalsTypesAndSpellsTheOthers) {
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
                      {"NVIDIA H200", "nvidia-h200"},
                      {"NVIDIA L4", "nvidia-l4"},
                      {"NVIDIA GeForce RTX 3090", "nvidia-geforce-rtx-3090"},
                      {"Quadro P4000", "nvidia-quadro-p4000"},
                      {"", "nvidia-gpu"}};
  for (const Row& row : rows) EXPECT_EQ(GpuType(row.name), row.type) << row.name;
}

}  // namespace
}  // namespace trainyard::node
