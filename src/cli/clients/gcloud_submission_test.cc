#include "cli/clients/gcloud_submission.h"

#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

struct Row {
  const char* name;
  std::vector<std::string> argv;
  std::optional<GcloudSubmission> found;
};

class FindSubmission : public testing::TestWithParam<Row> {};

TEST_P(FindSubmission, IsRight) { EXPECT_EQ(FindGcloudSubmission(GetParam().argv), GetParam().found); }

INSTANTIATE_TEST_SUITE_P(
    CommandLines, FindSubmission,
    testing::Values(
        Row{"empty", {}, {}},
        Row{"usual",
            {"/usr/bin/gcloud", "ai-platform", "jobs", "submit", "training", "j_1", "--region", "us-west1",
             "--", "--epochs", "ten"},
            GcloudSubmission{{"j_1"}, ""}},
        Row{"flags_first",
            {"gcloud", "--project", "p", "ml-engine", "jobs", "submit", "training", "--package-path",
             "trainer", "j_1"},
            GcloudSubmission{{"trainer", "j_1"}, "p"}},
        Row{"project_with_equals",
            {"gcloud", "ai-platform", "jobs", "submit", "training", "j_1", "--project=p"},
            GcloudSubmission{{"j_1"}, "p"}},
        Row{"streams", {"gcloud", "ai-platform", "jobs", "submit", "training", "j_1", "--stream-logs"}, {}},
        Row{"another_command", {"gcloud", "ai-platform", "jobs", "describe", "j_1"}, {}},
        Row{"another_program", {"echo", "ai-platform", "jobs", "submit", "training", "j_1"}, {}}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace trainyard::cli
