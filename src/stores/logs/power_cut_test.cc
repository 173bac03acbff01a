#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/sqlite/testing/simulated_disk.h"
#include "stores/logs/testing/log_file_fixture.h"

/// Lines on a disk that is gone at any of its writes.
namespace trainyard::logs::power_cut_test {
namespace {

const std::string kPath = std::string(sqlite::SimulatedDisk::kFolder) + "logs.db";
const LogSource kSource = SampleSource(1, "master-replica-0");
constexpr std::int64_t kOperationsMax = 60;

Result<Appended> AppendLine(LogWriter& writer, std::int64_t line) {
  const AppendRequest request{kSource,
                              SampleChunk({.first_line = line, .texts = {"line " + std::to_string(line)}})};
  return writer.Append({&request, 1}).at(0);
}

TEST(PowerCut, LosesNoLineThatWasAcknowledged) {
  const FixedClock clock;
  for (std::int64_t operations = 0; operations < kOperationsMax; ++operations) {
    SCOPED_TRACE("the disk is gone after " + std::to_string(operations) + " operations");
    sqlite::SimulatedDisk disk(static_cast<std::uint64_t>(operations));
    std::int64_t acknowledged = 0;
    {
      const std::unique_ptr<LogWriter> writer = LogWriter::Open(kPath, clock).value();
      disk.FailAfter(operations);
      while (const Result<Appended> appended = AppendLine(*writer, acknowledged)) {
        acknowledged = appended->next_line;
        ASSERT_LE(acknowledged, operations) << "no line is on the disk without an operation";
      }
    }
    disk.PowerCut();
    ASSERT_TRUE(LogWriter::Open(kPath, clock));
    const std::int64_t found = LogReader::Open(kPath).value()->NextLine(1, kSource.source).value();
    EXPECT_TRUE(found == acknowledged || found == acknowledged + 1) << found << " of " << acknowledged;
  }
}

/// The commit is where a full disk is noticed.
TEST(PowerCut, AFullDiskRefusesLinesThatItHasNoRoomFor) {
  const FixedClock clock;
  sqlite::SimulatedDisk disk(1);
  const std::unique_ptr<LogWriter> writer = LogWriter::Open(kPath, clock).value();
  ASSERT_EQ(AppendLine(*writer, 0)->next_line, 1);
  disk.SetFull(true);
  EXPECT_EQ(AppendLine(*writer, 1).error().code, Code::kResourceExhausted);
  disk.SetFull(false);
  EXPECT_EQ(AppendLine(*writer, 1)->next_line, 2);
}

}  // namespace
}  // namespace trainyard::logs::power_cut_test
