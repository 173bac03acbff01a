#include "rules/validation/testing/table.h"

#include <google/protobuf/text_format.h>

namespace trainyard::jobs {

using ml::v1::Job;

ValidationContext Everything() {
  return {.containers = true, .tuning = true, .gpus = true, .tpus = true, .runtimes = {}};
}

Job Make(const std::string& base, const std::string& input) {
  Job job;
  job.set_job_id("census_1");
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(base, job.mutable_training_input())) << base;
  EXPECT_TRUE(google::protobuf::TextFormat::MergeFromString(input, job.mutable_training_input())) << input;
  return job;
}

std::string Verdict(const Job& job, const ValidationContext& context) {
  const Status status = Validate(job, context);
  if (status) return "";
  EXPECT_EQ(status.error().code, Code::kInvalidArgument);
  return status.error().field + ": " + status.error().message;
}

TEST_P(Table, GivesTheFieldAndTheReason) {
  const std::string verdict = Verdict(Make(GetParam().base, GetParam().input), Everything());
  EXPECT_EQ(std::string(GetParam().verdict).empty(), verdict.empty()) << verdict;
  EXPECT_TRUE(verdict.starts_with(GetParam().verdict)) << verdict;
}

std::string RowName(const testing::TestParamInfo<Row>& row) { return row.param.name; }

}  // namespace trainyard::jobs
