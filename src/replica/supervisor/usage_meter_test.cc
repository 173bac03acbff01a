#include "replica/supervisor/usage_meter.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cstdlib>

namespace trainyard::replica {
namespace {

v1::Usage Look(const std::vector<std::string>& gpus) {
  auto probe = GpuProbe::Start(gpus);
  EXPECT_TRUE(probe) << probe.error().message;
  for (;;) {
    pollfd ready{.fd = probe->fd(), .events = POLLIN, .revents = 0};
    EXPECT_GE(poll(&ready, 1, 20'000), 1);
    if (auto usage = probe->Read()) return *std::move(usage);
  }
}

TEST(GpuProbe, AsksTheLibrary) {
  setenv("TRAINYARD_NVML", FAKE_NVML, 1);
  const v1::Usage usage = Look({"0", "GPU-66666666-7777-8888-9999-000000000000"});
  ASSERT_EQ(usage.gpus_size(), 2);
  EXPECT_EQ(usage.gpus(0).id(), "0");
  EXPECT_DOUBLE_EQ(usage.gpus(0).utilization(), 0.25);
  EXPECT_EQ(usage.gpus(1).memory_total_bytes(), std::int64_t{40} << 30);
  unsetenv("TRAINYARD_NVML");
}

TEST(GpuProbe, WithoutALibraryThereAreNoFigures) {
  setenv("TRAINYARD_NVML", "/nonexistent/libnvml.so", 1);
  EXPECT_EQ(Look({"0"}).gpus_size(), 0);
  unsetenv("TRAINYARD_NVML");
}

}  // namespace
}  // namespace trainyard::replica
