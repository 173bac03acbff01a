#include "programs/node/machine_figures.h"

#include <gtest/gtest.h>

namespace trainyard::node {
namespace {

constexpr const char* kStat =
    "cpu  100 10 40 800 50 5 5 0 7 0\ncpu0 50 5 20 400 25 2 2 0 0 0\nintr 12 34\nctxt 5\n";
constexpr const char* kMemory =
    "MemTotal:       16384 kB\nMemFree:         1024 kB\nMemAvailable:    4096 kB\n";

TEST(MachineFigures, AreThoseOfAllCpusAndOfMemory) {
  const MachineFigures figures = ParseMachineFigures(kStat, kMemory);
  EXPECT_EQ(figures, (MachineFigures{.busy_ticks = 160,
                                     .all_ticks = 1'010,
                                     .memory_bytes = 16'384 * 1'024,
                                     .memory_available_bytes = 4'096 * 1'024}));
  EXPECT_DOUBLE_EQ(MemoryShare(figures), 0.75);
  EXPECT_EQ(ParseMachineFigures("", "nonsense"), MachineFigures{});
}

TEST(MachineFigures, SharesAreOfTheTimeBetween) {
  const MachineFigures before{.busy_ticks = 100, .all_ticks = 1'000};
  EXPECT_DOUBLE_EQ(BusyShare(before, {.busy_ticks = 150, .all_ticks = 1'200}), 0.25);
  EXPECT_DOUBLE_EQ(BusyShare(before, {.busy_ticks = 90, .all_ticks = 1'200}), 0) << "idle time may go back";
  EXPECT_EQ(BusyShare(before, before), -1);
  EXPECT_EQ(BusyShare({}, before), -1) << "since the machine started is not now";
  EXPECT_EQ(MemoryShare({}), -1);
}

TEST(MachineFigures, OfThisMachineAreThere) {
  const MachineFigures here = ReadMachineFigures();
  EXPECT_GT(here.all_ticks, 0);
  EXPECT_GT(here.memory_bytes, here.memory_available_bytes);
}

TEST(SystemName, IsThePrettyOne) {
  EXPECT_EQ(SystemName("NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(SystemName("PRETTY_NAME=Alpine\n"), "Alpine");
  EXPECT_EQ(SystemName("ID=x\n"), "");
}

}  // namespace
}  // namespace trainyard::node
