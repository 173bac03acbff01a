#include "programs/node/nvml_usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace trainyard::node::nvml_usage_test {
namespace {

constexpr char kT4[] = "GPU-11111111-2222-3333-4444-555555555555";

TEST(AskNvmlUsage, ByUuidAndByIndex) {
  const auto gpus = AskNvmlUsage(FAKE_NVML, {kT4, "GPU-no-such", "1", "7"});
  ASSERT_TRUE(gpus) << gpus.error().message;
  EXPECT_THAT(*gpus, testing::ElementsAre(GpuUsage{.id = kT4,
                                                   .utilization = 0.25,
                                                   .memory_bytes = std::int64_t{4} << 30,
                                                   .memory_total_bytes = std::int64_t{16} << 30},
                                          GpuUsage{.id = "1",
                                                   .utilization = 0.25,
                                                   .memory_bytes = std::int64_t{10} << 30,
                                                   .memory_total_bytes = std::int64_t{40} << 30}));
}

TEST(AskNvmlUsage, WithoutADriverOrALibrary) {
  EXPECT_EQ(AskNvmlUsage("libno-such-nvml.so", {kT4}).error().code, Code::kNotFound);
  setenv("FAKE_NVML", "init", 1);
  EXPECT_EQ(AskNvmlUsage(FAKE_NVML, {kT4}).error().code, Code::kUnavailable);
  unsetenv("FAKE_NVML");
}

}  // namespace
}  // namespace trainyard::node::nvml_usage_test
