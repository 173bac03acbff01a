#include "stores/logs/job_chunks.h"

#include <gmock/gmock.h>

#include "stores/logs/log_database.h"
#include "stores/logs/testing/line_log_fixture.h"

namespace trainyard::logs {
namespace {

using logging::v2::LogEntry;
using testing::Each;
using testing::HasSubstr;

class JobChunksTest : public LineLogTest {};

TEST_F(JobChunksTest, WalksInAnIndexAlone) {
  const std::vector<std::string> plans = chunks_->QueryPlans().value();
  EXPECT_THAT(plans, testing::SizeIs(5));  // one has an inner query, which is two steps
  EXPECT_THAT(plans,
              Each(testing::AnyOf(HasSubstr("USING COVERING INDEX chunks_by_line"),
                                  HasSubstr("USING INDEX chunks_by_job"), HasSubstr("SCALAR SUBQUERY"))));
}

TEST_F(JobChunksTest, CountsSeveritiesAsChunksAreStored) {
  Write(
      "master-replica-0", kStart,
      {{"a", LogEntry::WARNING}, {"b", LogEntry::ERROR}, {"c", LogEntry::CRITICAL}, {"d", LogEntry::NOTICE}});
  sqlite::Cursor rows = chunks_->Forward(1, 2);
  ASSERT_TRUE(rows.Next().value());
  const ChunkPlace place = JobChunks::PlaceOf(rows);
  EXPECT_EQ(place.first, 0);
  EXPECT_EQ(place.end(), 4);
  EXPECT_EQ(place.counts, (SeverityCounts{.warnings = 1, .errors = 2, .named_errors = 2}));
  EXPECT_FALSE(rows.Next().value());
}

TEST_F(JobChunksTest, WritersAreSortedAndSaidOnce) {
  Write("worker-replica-1", kStart, {{"a"}}, "2");
  Write("master-replica-0", kStart, {{"a"}}, "2");
  Write("worker-replica-1", kStart, {{"a"}}, "2");
  const std::vector<LineWriter> expected = {{.replica = "master-replica-0", .trial_id = "2"},
                                            {.replica = "worker-replica-1", .trial_id = "2"}};
  EXPECT_EQ(chunks_->Writers(1).value(), expected);
  EXPECT_EQ(chunks_->Total(1).value(), 3);
  EXPECT_EQ(chunks_->Total(2).value(), 0);
}

TEST_F(JobChunksTest, SaysThatAChunkIsGone) {
  EXPECT_EQ(chunks_->Load(77).error().code, Code::kAborted);
  EXPECT_EQ(chunks_->Writer(77).error().code, Code::kAborted);
}

}  // namespace
}  // namespace trainyard::logs
