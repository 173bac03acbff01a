#include "programs/sandbox/cgroups/proc_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::replica {
namespace {

TEST(ProcessStat, AddsTheTimesAndFindsTheMemory) {
  EXPECT_EQ(ParseProcessStat(
                "7 (a) b) c) S 1 7 7 0 -1 4194560 100 200 0 0 11 5 30 4 20 0 1 0 99 1000000 321 18446744"),
            (ProcessFigures{.cpu_ticks = 50, .resident_pages = 321}));
  EXPECT_EQ(ParseProcessStat(""), ProcessFigures{});
  EXPECT_EQ(ParseProcessStat("7 (a) S 1"), ProcessFigures{});
}

TEST(NetworkDevices, LeavesTheLoopbackOut) {
  EXPECT_EQ(ParseNetworkDevices(
                "Inter-|   Receive                      |  Transmit\n"
                " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
                "    lo:  1000      10    0    0    0     0          0         0     1000      10    0\n"
                "  eth0:  5000      50    0    0    0     0          0         0      700       7    0\n"
                "eth1:1 1 0 0 0 0 0 0 2 1 0\n"),
            (NetworkFigures{.received_bytes = 5001, .sent_bytes = 702}));
  EXPECT_EQ(ParseNetworkDevices("nonsense"), NetworkFigures{});
}

TEST(ProcessIo, CountsWhatDisksSaw) {
  EXPECT_EQ(
      ParseProcessIo("rchar: 323934931\nwchar: 323929600\nsyscr: 632687\nsyscw: 632675\nread_bytes: 4096\n"
                     "write_bytes: 323932160\ncancelled_write_bytes: 0\n"),
      (DiskFigures{.read_bytes = 4096, .written_bytes = 323932160}));
  EXPECT_EQ(ParseProcessIo(""), DiskFigures{});
}

TEST(FindFigure, TakesWholeKeysOnly) {
  constexpr std::string_view kText = "total_inactive_file 3\ninactive_file 42\noom_kill 7\n";
  EXPECT_EQ(FindFigure(kText, "inactive_file"), 42);
  EXPECT_EQ(FindFigure(kText, "oom_kill"), 7);
  EXPECT_EQ(FindFigure(kText, "oom"), 0);
  EXPECT_EQ(FindFigure("", "oom"), 0);
}

TEST(ParseFigure, IsANumberOrNothing) {
  EXPECT_EQ(ParseFigure(" 17\n"), 17);
  EXPECT_EQ(ParseFigure("max\n"), 0);
  EXPECT_EQ(ParseFigure(""), 0);
}

TEST(ParsePids, OnePerLine) { EXPECT_THAT(ParsePids("1\n23\n\nx\n"), testing::ElementsAre(1, 23)); }

}  // namespace
}  // namespace trainyard::replica
