#include "cli/gcloud/flag_values.h"

#include <gtest/gtest.h>

namespace trainyard::cli::flag_values_test {
namespace {

struct Row {
  const char* name;
  Status (*check)(std::string_view);
  std::string value;
  std::string error;  ///< how the message begins; empty: accepted
};

class FlagValue : public testing::TestWithParam<Row> {};

TEST_P(FlagValue, Rules) {
  Status status = GetParam().check(GetParam().value);
  std::string error = status ? "" : status.error().message;
  EXPECT_EQ(error.substr(0, GetParam().error.size()), GetParam().error);
  EXPECT_EQ(error.empty(), GetParam().error.empty()) << error;
}

INSTANTIATE_TEST_SUITE_P(
    Checks, FlagValue,
    testing::Values(
        Row{"job_dir", CheckJobDir, "gs://bucket/a/b", ""},
        Row{"job_dir_bucket", CheckJobDir, "gs://bucket", ""},
        Row{"job_dir_slash", CheckJobDir, "gs://bucket/", ""},
        Row{"job_dir_local", CheckJobDir, "/a", "Must be of form gs://bucket/object"},
        Row{"job_dir_empty", CheckJobDir, "gs://", "Must be of form"},
        Row{"job_dir_no_bucket", CheckJobDir, "gs:///o", "Must be of form"},
        Row{"job_dir_capitals", CheckJobDir, "gs://Bucket/o",
            "Invalid bucket name [Bucket]: Bucket names must contain only"},
        Row{"job_dir_newline", CheckJobDir, "gs://bucket/a\nb",
            "Invalid object name [a\nb]: Object names must not contain"},
        Row{"job_dir_long", CheckJobDir, "gs://bucket/" + std::string(1025, 'a'), "Invalid object name ["},
        Row{"job_dir_longest", CheckJobDir, "gs://bucket/" + std::string(1024, 'a'), ""},
        Row{"bucket_short", CheckStagingBucket, "gs://ab",
            "Invalid bucket name [ab]: Bucket names must contain 3 to 63"},
        Row{"bucket_63", CheckStagingBucket, "gs://" + std::string(63, 'a'), ""},
        Row{"bucket_64", CheckStagingBucket, "gs://" + std::string(64, 'a'), "Invalid bucket name ["},
        Row{"bucket_dots", CheckStagingBucket, "gs://" + std::string(63, 'a') + "." + std::string(63, 'b'),
            ""},
        Row{"bucket_dash_end", CheckStagingBucket, "gs://abc-",
            "Invalid bucket name [abc-]: Bucket names must start and end"},
        Row{"bucket_ip", CheckStagingBucket, "gs://10.0.0.1",
            "Invalid bucket name [10.0.0.1]: Bucket names cannot be"},
        Row{"bucket_plain", CheckStagingBucket, "bucket", "Must be a valid Google Cloud Storage bucket"},
        Row{"tier_case", CheckScaleTier, "Basic_GPU", ""},
        Row{"tier_bad", CheckScaleTier, "xyz", "Invalid choice: 'xyz'.\n\nValid choices"},
        Row{"count_overflow", CheckPositiveInteger, "99999999999999999999", "Value must be an integer"},
        Row{"count_empty", CheckPositiveInteger, "", "Value must be an integer"},
        Row{"count_one", CheckPositiveInteger, "1", ""}, Row{"bool", CheckBoolean, "NO", ""},
        Row{"gpus", CheckGpuCount, "8", ""},
        Row{"gpus_unlimited", CheckGpuCount, "unlimited", "Value must be 1, 2, 4 or 8; received: unlimited"},
        Row{"workers", CheckWorkerCount, "999", ""},
        Row{"workers_with_the_master", CheckWorkerCount, "1000",
            "Value must be from 1 to 999; received: 1000"},
        Row{"workers_overflow", CheckWorkerCount, "99999999999",
            "Value must be from 1 to 999; received: 999"},
        Row{"workers_unlimited", CheckWorkerCount, "unlimited", "Value must be from 1 to 999; received: unl"},
        Row{"label_63", CheckLabels, "a=" + std::string(63, 'x'), ""},
        Row{"label_64", CheckLabels, "a=" + std::string(64, 'x'), "Bad value ["},
        Row{"label_international", CheckLabels, "\xc3\xa9t\xc3\xa9=\xc3\xa9", ""},
        Row{"label_digit_key", CheckLabels, "1a=x", "Bad value [1a]"},
        Row{"label_empty_value", CheckLabels, "a=", ""},
        Row{"label_empty_key", CheckLabels, "=a", "Bad value []"},
        Row{"accelerator", CheckAccelerator, "count=8,type=tpu-v2", ""},
        Row{"accelerator_no_type", CheckAccelerator, "count=8", "Key [type] required"},
        Row{"account_number", CheckServiceAccount, "123", ""},
        Row{"account_bad", CheckServiceAccount, "a b@c.d", "Bad value [a b@c.d]"}),
    [](const auto& row) { return row.param.name; });

TEST(SplitList, KnowsOtherSeparators) {
  EXPECT_EQ(*SplitList("a,b"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(*SplitList("a,"), (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(*SplitList(""), std::vector<std::string>{});
  EXPECT_EQ(*SplitList("^::^a,b::c"), (std::vector<std::string>{"a,b", "c"}));
  EXPECT_EQ(*SplitList("^a"), std::vector<std::string>{"^a"});
  EXPECT_FALSE(SplitList("^^a,b").has_value());
}

TEST(SplitPairs, KeepsLaterEquals) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(*SplitPairs("a=b=c,d="), (Pairs{{"a", "b=c"}, {"d", ""}}));
  EXPECT_FALSE(SplitPairs("a,b=c").has_value());
}

TEST(ParseDuration, ReadsANumberAndAUnit) {
  using std::chrono::seconds;
  EXPECT_EQ(ParseDuration("90s"), seconds(90));
  EXPECT_EQ(ParseDuration("30m"), seconds(1'800));
  EXPECT_EQ(ParseDuration("8h"), seconds(28'800));
  EXPECT_EQ(ParseDuration("7d"), seconds(604'800));
  EXPECT_EQ(ParseDuration("90d"), seconds(7'776'000));
  for (const char* text : {"", "h", "1", "8 h", "1h ", "-1h", "0s", "0h", "1.5h", "1w", "999999d",
                           "99999999999d", "99999999999999999999s"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
    EXPECT_FALSE(CheckAge(text)) << text;
  }
}

}  // namespace
}  // namespace trainyard::cli::flag_values_test
