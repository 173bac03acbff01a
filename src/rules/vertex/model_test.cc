#include "rules/vertex/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/json.h"
#include "rules/vertex/testing/parse_jobs.h"

namespace trainyard::vertex::model_test {
namespace {

using ml::v1::Job;
using ::testing::HasSubstr;
using testing::ParsePipeline;

// What CustomTrainingJob of the SDK 2.7.0 sends, given each of its arguments about the model but
// explanations.
constexpr const char* kAsked = R"({"displayName": "ctjm", "modelToUpload": {"displayName": "mm",
  "description": "d", "predictSchemata": {"instanceSchemaUri": "gs://s/i.yaml",
    "parametersSchemaUri": "gs://s/p.yaml", "predictionSchemaUri": "gs://s/o.yaml"},
  "containerSpec": {"imageUri": "us-docker.pkg.dev/vertex-ai/prediction/tf2-cpu.2-8:latest", "command": ["serve"],
    "args": ["-v"], "env": [{"name": "A", "value": "b"}], "ports": [{"containerPort": 8080}],
    "predictRoute": "/predict", "healthRoute": "/health"},
  "encryptionSpec": {"kmsKeyName": "k"}, "labels": {"team": "a"}, "versionAliases": ["first"],
  "versionDescription": "v"}})";

Job Succeeded() {
  Job now;
  now.set_state(Job::SUCCEEDED);
  now.mutable_training_input()->set_output_uri_prefix("gs://b/out/");
  now.mutable_create_time()->set_seconds(100);
  now.mutable_end_time()->set_seconds(120);
  return now;
}

std::string Printed(const google::protobuf::Message& message) { return wire::PrintJsonCompact(message); }

TEST(ModelOf, IsTheRequestsWithItsFiles) {
  const aip::Model model = ModelOf(ParsePipeline(kAsked), Succeeded(), "pipelines/1", "models/1");
  const aip::Model expected = testing::ParseRequest<aip::Model>(R"({"name": "models/1", "displayName": "mm",
    "description": "d", "predictSchemata": {"instanceSchemaUri": "gs://s/i.yaml",
      "parametersSchemaUri": "gs://s/p.yaml", "predictionSchemaUri": "gs://s/o.yaml"},
    "trainingPipeline": "pipelines/1",
    "containerSpec": {"imageUri": "us-docker.pkg.dev/vertex-ai/prediction/tf2-cpu.2-8:latest",
      "command": ["serve"], "args": ["-v"], "env": [{"name": "A", "value": "b"}],
      "ports": [{"containerPort": 8080}], "predictRoute": "/predict", "healthRoute": "/health"},
    "createTime": "1970-01-01T00:02:00Z", "updateTime": "1970-01-01T00:02:00Z", "labels": {"team": "a"},
    "encryptionSpec": {"kmsKeyName": "k"}, "artifactUri": "gs://b/out/model", "versionId": "1",
    "versionAliases": ["first", "default"], "versionDescription": "v",
    "versionCreateTime": "1970-01-01T00:02:00Z", "versionUpdateTime": "1970-01-01T00:02:00Z",
    "modelSourceInfo": {"sourceType": "CUSTOM"}})");
  EXPECT_EQ(Printed(model), Printed(expected));
}

TEST(ModelOf, HasNoFilesWithoutAnOutputDirectory) {
  Job now = Succeeded();
  now.mutable_training_input()->clear_output_uri_prefix();
  EXPECT_EQ(ModelOf(ParsePipeline(kAsked), now, "p", "m").artifact_uri(), "");
}

TEST(ModelOf, IsThatOfTheBestTrial) {
  Job now = Succeeded();
  now.mutable_training_input()->mutable_hyperparameters();
  EXPECT_EQ(ModelOf(ParsePipeline(kAsked), now, "p", "m").artifact_uri(), "") << "no trial is known";
  for (const char* id : {"3", "1"}) now.mutable_training_output()->add_trials()->set_trial_id(id);
  EXPECT_EQ(ModelOf(ParsePipeline(kAsked), now, "p", "m").artifact_uri(), "gs://b/out/3/model");
}

TEST(HasModel, OnceThePipelineHasSucceeded) {
  Job now = Succeeded();
  EXPECT_TRUE(HasModel(ParsePipeline(kAsked), now));
  EXPECT_FALSE(HasModel(ParsePipeline(R"({"displayName": "x"})"), now)) << "nobody asked for one";
  for (const auto state : {Job::QUEUED, Job::RUNNING, Job::FAILED, Job::CANCELLED}) {
    now.set_state(state);
    EXPECT_FALSE(HasModel(ParsePipeline(kAsked), now)) << Job::State_Name(state);
  }
}

TEST(SplitModelId, KnowsVersions) {
  EXPECT_EQ(SplitModelId("12"), (ModelId{.number = "12"}));
  EXPECT_EQ(SplitModelId("12@1"), (ModelId{.number = "12", .version = "1"}));
  EXPECT_EQ(SplitModelId("12@a@b"), (ModelId{.number = "12", .version = "a@b"}));
  EXPECT_EQ(SplitModelId("@"), ModelId{});
}

TEST(HasVersion, ByNumberAndAlias) {
  const aip::Model model = ModelOf(ParsePipeline(kAsked), Succeeded(), "p", "m");
  for (const char* version : {"", "1", "default", "first"})
    EXPECT_TRUE(HasVersion(model, version)) << version;
  for (const char* version : {"2", "firs", "01"}) EXPECT_FALSE(HasVersion(model, version)) << version;
}

struct Row {
  const char* name;
  void (*spoil)(aip::Model& asked);
  const char* found;
};

class BadModel : public ::testing::TestWithParam<Row> {};

TEST_P(BadModel, IsRefused) {
  aip::Model asked = ParsePipeline(kAsked).model_to_upload();
  Findings findings;
  CheckModel(asked, findings);
  ASSERT_TRUE(findings.empty());
  GetParam().spoil(asked);
  CheckModel(asked, findings);
  ASSERT_FALSE(findings.empty());
  EXPECT_THAT(std::move(findings).ToError().message, HasSubstr(GetParam().found));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadModel,
    ::testing::Values(
        Row{"no_name", [](auto& asked) { asked.clear_display_name(); },
            "1.Field: model_to_upload.display_name; Message: This field is required."},
        Row{"no_image", [](auto& asked) { asked.clear_container_spec(); },
            "1.Field: model_to_upload.container_spec.image_uri; Message: This field is required."},
        Row{"explained", [](auto& asked) { asked.mutable_explanation_spec(); },
            "1.Field: model_to_upload.explanation_spec; Message: Explanations are not supported"},
        Row{"labels", [](auto& asked) { (*asked.mutable_labels())["A"] = "b"; },
            "1.Field: model_to_upload.labels; Message: "}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace trainyard::vertex::model_test
