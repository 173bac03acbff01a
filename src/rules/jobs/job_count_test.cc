#include "rules/jobs/job_row.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

namespace trainyard::jobs {
namespace {

control::v1::JobRecord Parse(const std::string& text) {
  control::v1::JobRecord record;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &record)) << text;
  return record;
}

TEST(JobCount, CountsStatesLabelsAndCreators) {
  JobCount count;
  count.Add(Parse("creator: 'user:b@e.com' job { state: RUNNING labels { key: 'a' value: '1' } }"));
  count.Add(
      Parse("creator: 'user:a@e.com' tuning { } job { state: RUNNING labels { key: 'b' value: '1' } }"));
  count.Add(
      Parse("creator: 'user:b@e.com' job { state: FAILED labels { key: 'b' value: '1' } labels { key: "
            "'a' value: '2' } }"));
  count.Add(Parse("job { state: QUEUED }"));
  control::v1::JobSummary expected;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "jobs: 4 tuning: 1 by_state { key: 'RUNNING' value: 2 } by_state { key: 'FAILED' value: 1 } by_state { "
      "key: 'QUEUED' value: 1 } labels { key: 'b' value: '1' jobs: 2 } labels { key: 'a' value: '1' jobs: 1 "
      "} "
      "labels { key: 'a' value: '2' jobs: 1 } creators: 'user:a@e.com' creators: 'user:b@e.com'",
      &expected));
  const control::v1::JobSummary summary = count.Summary();
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(summary, expected)) << summary.DebugString();
}

TEST(JobCount, IsBoundedWhateverTheLabels) {
  JobCount count;
  const std::size_t jobs = JobCount::kLabelsCounted + 10;
  for (std::size_t i = 0; i < jobs; ++i)
    count.Add(Parse("creator: 'user:" + std::to_string(i) +
                    "@e.com' job { state: RUNNING labels { key: 'n' value: '" + std::to_string(i) +
                    "' } labels { key: 'all' value: 'x' } }"));
  const control::v1::JobSummary summary = count.Summary();
  EXPECT_EQ(summary.jobs(), static_cast<std::int64_t>(jobs));
  ASSERT_EQ(summary.labels_size(), static_cast<int>(JobCount::kLabelsMax));
  EXPECT_EQ(summary.labels(0).key(), "all");
  EXPECT_EQ(summary.labels(0).jobs(), static_cast<std::int64_t>(jobs));
  EXPECT_EQ(summary.creators_size(), static_cast<int>(JobCount::kCreatorsMax));
}

}  // namespace
}  // namespace trainyard::jobs
