#include "cli/jobs/config_file.h"

#include <gtest/gtest.h>

#include "cli/gcloud/yaml.h"

namespace trainyard::cli {
namespace {

struct Row {
  const char* name;
  const char* yaml;
  const char* result;  ///< compact JSON, or the error's text
};
class Config : public testing::TestWithParam<Row> {};

TEST_P(Config, IsAJobOrNamesTheMistake) {
  const Result<Json> config = FitConfig(*ParseYaml(GetParam().yaml), "c.yaml");
  EXPECT_EQ(config ? PrintCompact(*config) : config.error().message, GetParam().result);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Config,
    testing::Values(
        Row{"empty", "", "null"}, Row{"no_job", "trainingInput:", "{}"},
        Row{"text", "\n\"trainingInput\"",
            "c.yaml:2: a Job belongs here, which is a mapping of field names to values"},
        Row{"list", "- trainingInput:\n    scaleTier: BASIC",
            "c.yaml:1: a Job belongs here, which is a mapping of field names to values"},
        Row{"inner_list", "jobId: a\ntrainingInput: []",
            "c.yaml:2: trainingInput: It must be a mapping of field names to values, and is a list"},
        Row{"inner_text", "trainingInput:\n  scheduling: soon",
            "c.yaml:2: trainingInput.scheduling: It must be a mapping of field names to values, and is a "
            "text"},
        Row{"list_for_one", "trainingInput:\n  region:\n    - us-central1",
            "c.yaml:3: trainingInput.region: It must be a single value, and is a list"},
        Row{"list_of_lists", "trainingInput:\n  args:\n    - a\n    - [b]",
            "c.yaml:4: trainingInput.args[1]: It must be a single value, and is a list"},
        Row{"no_text", "trainingInput:\n  region: no",
            "c.yaml:2: trainingInput.region: Expected type string for field region, found false; put it in "
            "quotes: \"false\""},
        Row{"octal", "trainingInput:\n  workerCount: 010",
            "c.yaml:2: trainingInput.workerCount: YAML reads 010 as the octal number 8; write it without "
            "the 0 at its beginning"}),
    [](const auto& row) { return row.param.name; });

TEST(ConfigLine, OfAValueThatTheServerRefuses) {
  const Json document = *ParseYaml(
      "scaleTier: BASIC\ntrainingInput:\n  region: <REGION>\n  scheduling: {max_wait_time: 5s}\n"
      "  args: [a]\n");
  const auto at = [&](const char* refusal) { return WithConfigLine(refusal, document, "c.yaml"); };
  EXPECT_EQ(at("Field: region Error: no."),
            "Field: region Error: no. (c.yaml:3: region) '<REGION>' looks like a placeholder: put your own "
            "value there.");
  EXPECT_EQ(at("Field: scheduling.max_wait_time Error: no."),
            "Field: scheduling.max_wait_time Error: no. (c.yaml:4: max_wait_time)");
  EXPECT_EQ(at("Unknown name \"scaleTier\" at 'job': no."),
            "Unknown name \"scaleTier\" at 'job': no. (c.yaml:1: scaleTier)");
  EXPECT_EQ(at("Field: python_module Error: no."), "Field: python_module Error: no.") << "not in the file";
  EXPECT_EQ(at("no"), "no");
}

}  // namespace
}  // namespace trainyard::cli
