#include "cli/run/machine_choice.h"

#include <gtest/gtest.h>

namespace trainyard::cli::machine_choice_test {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

TEST(ParseBytes, TakesTheUsualUnits) {
  EXPECT_EQ(ParseBytes("16G"), 16 * kGiB);
  EXPECT_EQ(ParseBytes("16GiB"), 16 * kGiB);
  EXPECT_EQ(ParseBytes("16gB"), 16 * kGiB);
  EXPECT_EQ(ParseBytes("512M"), kGiB / 2);
  EXPECT_EQ(ParseBytes("1T"), 1024 * kGiB);
  for (const char* other : {"", "G", "16", "0G", "-1G", "1.5G", "16X", "9999999999T", "iB"})
    EXPECT_EQ(ParseBytes(other), std::nullopt) << other;
}

struct Row {
  MachineNeeds needs;
  const char* machine;  ///< empty: refused
};

TEST(ChooseMachine, IsTheSmallestThatHasSoMuch) {
  const Row rows[] = {{{}, "n1-standard-4"},
                      {{.gpus = 1}, "n1-standard-8"},
                      {{.cpus = 16}, "n1-highcpu-16"},
                      {{.memory_bytes = 16 * kGiB}, "n1-highmem-4"},
                      {{.cpus = 8, .memory_bytes = 30 * kGiB}, "n1-standard-8"},
                      {{.cpus = 8, .memory_bytes = 30 * kGiB, .gpus = 1}, "n1-standard-8"},
                      {{.cpus = 120}, "n2d-highcpu-128"},  // Vertex AI has larger ones than the original
                      {{.memory_bytes = 900 * kGiB}, "m3-ultramem-32"},
                      {{.cpus = 1'000}, ""},
                      {{.cpus = 96, .gpus = 1}, ""}};
  for (const Row& row : rows) {
    const auto machine = ChooseMachine(row.needs);
    EXPECT_EQ(machine ? *machine : "", row.machine) << row.needs.cpus << ' ' << row.needs.memory_bytes / kGiB;
  }
}

}  // namespace
}  // namespace trainyard::cli::machine_choice_test
