#include "rules/validation/validate.h"

#include <gtest/gtest.h>

#include <set>

#include "rules/validation/testing/table.h"

namespace trainyard::jobs {
namespace {

using ml::v1::Job;

TEST(Validate, ChecksTheJobItself) {
  Job job = Make(kPackage, "");
  job.set_job_id("9bad-id");
  EXPECT_EQ(
      Verdict(job, Everything()),
      "job.job_id: A name should start with a letter and contain only letters, numbers and underscores.");
  job = Make(kPackage, "");
  job.mutable_prediction_input();
  EXPECT_TRUE(Verdict(job, Everything()).starts_with("job.prediction_input: ")) << Verdict(job, Everything());
  job = Make(kPackage, "");
  job.clear_training_input();
  EXPECT_EQ(Verdict(job, Everything()), "job.training_input: This field is required.");
}

std::vector<std::string> FieldsOf(const Violations& violations) {
  std::vector<std::string> fields;
  for (const Error& violation : violations) fields.push_back(violation.field);
  return fields;
}

TEST(FindViolations, FindsAllInTheDocumentedOrder) {
  Job job = Make(kPackage, "");
  EXPECT_TRUE(FindViolations(job, Everything()).empty());
  job.set_job_id("9bad-id");
  (*job.mutable_labels())["Team"] = "x";
  ml::v1::TrainingInput& input = *job.mutable_training_input();
  input.set_region("nowhere");
  input.mutable_master_config()->mutable_disk_config()->set_boot_disk_type("tape");
  input.mutable_evaluator_config()->mutable_disk_config()->set_boot_disk_size_gb(-1);
  input.add_env()->set_name("A");
  input.add_env()->set_name("A");
  input.add_env()->set_name("1");
  input.mutable_scheduling()->set_priority(1001);
  input.mutable_scheduling()->mutable_max_wait_time()->set_seconds(5);
  EXPECT_EQ(FieldsOf(FindViolations(job, Everything())),
            (std::vector<std::string>{"job.job_id", "job.labels", "region",
                                      "master_config.disk_config.boot_disk_type",
                                      "evaluator_config.disk_config.boot_disk_size_gb", "env[1].name",
                                      "env[2].name", "scheduling.max_wait_time", "scheduling.priority"}));
}

TEST(FindViolations, ARuleThatNeedsABrokenOneFindsNothing) {
  Job job = Make(kPackage, "");
  job.clear_training_input();
  EXPECT_EQ(FieldsOf(FindViolations(job, Everything())), (std::vector<std::string>{"job.training_input"}));
  job = Make(kPackage,
             "scale_tier: CUSTOM master_type: 'no-such-machine' master_config { accelerator_config { "
             "count: 1 type: NVIDIA_TESLA_T4 } }");
  EXPECT_EQ(FieldsOf(FindViolations(job, Everything())), (std::vector<std::string>{"master_type"}));
}

TEST(Validate, CountsPackagesAndArguments) {
  Job job = Make(kPackage, "");
  while (job.training_input().package_uris_size() < 100)
    job.mutable_training_input()->add_package_uris("gs://bucket/x.tgz");
  EXPECT_EQ(Verdict(job, Everything()), "");
  job.mutable_training_input()->add_package_uris("gs://bucket/x.tgz");
  EXPECT_EQ(Verdict(job, Everything()), "package_uris: The maximum number of package URIs is 100.");
  job = Make(kPackage, "");
  job.mutable_training_input()->add_args(std::string(65536, 'x'));
  EXPECT_EQ(Verdict(job, Everything()), "args: The arguments are too long: 65537 bytes, at most 65536.");
  job = Make(kPackage, "");
  job.mutable_training_input()->mutable_master_config()->add_args(std::string(65536, 'x'));
  EXPECT_EQ(Verdict(job, Everything()),
            "master_config.args: The arguments are too long: 65537 bytes, at most 65536.");
}

struct LabelRow {
  const char* name;
  std::string key;
  std::string value;
  bool ok;
};
class LabelForm : public testing::TestWithParam<LabelRow> {};

TEST_P(LabelForm, FollowsTheRule) {
  Job job;
  (*job.mutable_labels())[GetParam().key] = GetParam().value;
  const Status status = ValidateLabels(job);
  EXPECT_EQ(status.has_value(), GetParam().ok);
  if (!status) EXPECT_EQ(status.error().field, "job.labels");
}

INSTANTIATE_TEST_SUITE_P(
    Rules, LabelForm,
    testing::Values(LabelRow{"plain", "team", "red-1_x", true}, LabelRow{"no_value", "team", "", true},
                    LabelRow{"digit_first", "1team", "", false}, LabelRow{"value_digit", "a", "1", true},
                    LabelRow{"upper", "Team", "", false}, LabelRow{"upper_value", "team", "Red", false},
                    LabelRow{"empty_key", "", "x", false},
                    LabelRow{"umlauts", "\xc3\xa4", "\xc3\xb6\xc3\xbc", true},
                    LabelRow{"long_key", std::string(63, 'k'), "", true},
                    LabelRow{"longer_key", std::string(64, 'k'), "", false},
                    LabelRow{"longer_value", "k", std::string(64, 'v'), false},
                    LabelRow{"space", "a b", "", false}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Validate, CountsLabels) {
  Job job = Make(kPackage, "");
  for (int i = 0; i < 64; ++i) (*job.mutable_labels())["l" + std::to_string(i)] = "";
  EXPECT_EQ(Verdict(job, Everything()), "");
  (*job.mutable_labels())["one_more"] = "";
  EXPECT_EQ(Verdict(job, Everything()), "job.labels: A job cannot have more than 64 labels.");
}

TEST(Validate, CountsTheCharactersOfTheDisplayName) {
  Job job = Make(kPackage, "");
  for (int i = 0; i < 128; ++i) job.mutable_display_name()->append("\xc3\xa4");
  EXPECT_EQ(Verdict(job, Everything()), "");
  job.mutable_display_name()->push_back('x');
  EXPECT_EQ(Verdict(job, Everything()), "job.display_name: A display name can have at most 128 characters.");
}

TEST(Rules, HaveNamesAndSources) {
  std::set<std::string_view> names;
  for (const ValidationRule& rule : ValidationRules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_FALSE(rule.source.empty()) << rule.name;
  }
}

}  // namespace
}  // namespace trainyard::jobs
