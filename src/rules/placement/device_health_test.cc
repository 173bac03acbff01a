#include "rules/placement/device_health.h"

#include <gtest/gtest.h>

namespace trainyard::placement {
namespace {

constexpr const char* kFellOff = "it reported Xid 79 (it has fallen off the bus)";

DeviceSigns Answering(std::vector<std::uint64_t> xids = {}, std::uint64_t memory_errors = 0) {
  return {.device = {}, .xids = std::move(xids), .memory_errors = memory_errors};
}

TEST(DeviceHealth, OneLook) {
  struct Row {
    const char* name;
    DeviceSigns seen;
    const char* trouble;
  };
  const Row rows[] = {
      {"healthy", Answering(), ""},
      {"a_program_touched_foreign_memory", Answering({31}), ""},
      {"a_program_was_ended", Answering({13, 43, 45, 68, 109}), ""},
      {"fell_off", Answering({79}), kFellOff},
      {"program_then_hardware", Answering({31, 79}), kFellOff},
      {"unknown_number", Answering({140}), "it reported Xid 140"},
      {"ecc", Answering({}, 1), "its memory has 1 uncorrectable error; a reset of the GPU clears them"},
      {"ecc_and_xid", Answering({48}, 2), "it reported Xid 48 (uncorrectable memory error)"}};
  for (const Row& row : rows) EXPECT_EQ(NextHealth({}, &row.seen).trouble, row.trouble) << row.name;
  EXPECT_EQ(NextHealth({}, nullptr).trouble, "it does not answer");
}

TEST(DeviceHealth, ASilentDeviceIsBackAsSoonAsItAnswers) {
  const DeviceSigns seen = Answering();
  DeviceHealth health = NextHealth({}, nullptr);
  health = NextHealth(health, nullptr);
  EXPECT_EQ(NextHealth(health, &seen), DeviceHealth());
}

TEST(DeviceHealth, AnErrorIsForgivenAfterCalmLooks) {
  const DeviceSigns calm = Answering();
  const DeviceSigns error = Answering({79});
  DeviceHealth health = NextHealth({}, &error);
  for (int look = 1; look < kLooksAfterError; ++look) {
    health = NextHealth(health, &calm);
    EXPECT_EQ(health.trouble, kFellOff) << look;
  }
  EXPECT_EQ(NextHealth(NextHealth(health, &error), &calm).trouble, kFellOff) << "the count begins again";
  EXPECT_EQ(NextHealth(health, &calm), DeviceHealth());
}

TEST(DeviceHealth, MemoryErrorsStayUntilTheCounterIsCleared) {
  const DeviceSigns bad = Answering({}, 3);
  const DeviceSigns reset = Answering();
  DeviceHealth health;
  for (int look = 0; look < 2 * kLooksAfterError; ++look) health = NextHealth(health, &bad);
  EXPECT_FALSE(health.trouble.empty());
  EXPECT_EQ(NextHealth(health, &reset), DeviceHealth());
}

}  // namespace
}  // namespace trainyard::placement
