#include "rules/vertex/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/json.h"
#include "rules/vertex/testing/parse_jobs.h"
#include "trainyard/ml/v1/study_operations.pb.h"

namespace trainyard::vertex::trial_test {
namespace {

namespace original = google::cloud::ml::v1;
using testing::ParseRequest;

constexpr const char* kStudy = "projects/p/locations/us-central1/studies/9000000000000000001";

ml::v1::StudyConfig Config() {
  return ParseRequest<ml::v1::StudyConfig>(R"({"parameters": [
    {"parameter": "x", "type": "DOUBLE"}, {"parameter": "n", "type": "INTEGER"},
    {"parameter": "c", "type": "CATEGORICAL", "childParameterSpecs": [{"parameter": "k", "type": "INTEGER"}]}]})");
}

TEST(MlTrialOf, GivesEachParameterTheTypeOfTheStudy) {
  const auto trial = MlTrialOf(ParseRequest<aip::Trial>(R"({"state": "SUCCEEDED", "parameters": [
      {"parameterId": "x", "value": 2}, {"parameterId": "n", "value": 3}, {"parameterId": "c", "value": "1"},
      {"parameterId": "k", "value": 4}, {"parameterId": "unknown", "value": 5}],
      "finalMeasurement": {"stepCount": "7", "elapsedDuration": "2s", "metrics": [{"metricId": "m"}]},
      "measurements": [{"metrics": [{"metricId": "m", "value": 0.5}]}]})"),
                               Config());
  ASSERT_TRUE(trial) << trial.error().message;
  EXPECT_EQ(
      wire::PrintJsonCompact(*trial),
      R"({"finalMeasurement":{"elapsedTime":"2s","metrics":[{"metric":"m","value":0}],"stepCount":"7"},)"
      R"("measurements":[{"metrics":[{"metric":"m","value":0.5}]}],)"
      R"("parameters":[{"floatValue":2,"parameter":"x"},{"intValue":"3","parameter":"n"},)"
      R"({"parameter":"c","stringValue":"1"},{"intValue":"4","parameter":"k"},)"
      R"({"floatValue":5,"parameter":"unknown"}],"state":"COMPLETED"})");
}

TEST(MlTrialOf, OfSiblingsWithOneNameTakesTheOneThatIsActive) {
  const auto config = ParseRequest<ml::v1::StudyConfig>(R"({"parameters": [
    {"parameter": "c", "type": "CATEGORICAL", "childParameterSpecs": [
      {"parameter": "k", "type": "INTEGER", "parentCategoricalValues": {"values": ["1"]}},
      {"parameter": "k", "type": "DOUBLE", "parentCategoricalValues": {"values": ["2"]}},
      {"parameter": "k", "type": "CATEGORICAL", "parentCategoricalValues": {"values": ["3"]}}]}]})");
  const auto k_of = [&](const char* c, const char* k) {
    const auto trial =
        MlTrialOf(ParseRequest<aip::Trial>(std::string(R"({"parameters": [{"parameterId": "k", "value": )") +
                                           k + R"(}, {"parameterId": "c", "value": ")" + c + R"("}]})"),
                  config);
    return trial ? wire::PrintJsonCompact(trial->parameters(0)) : trial.error().message;
  };
  EXPECT_EQ(k_of("1", "1"), R"({"intValue":"1","parameter":"k"})");
  EXPECT_EQ(k_of("2", "1"), R"({"floatValue":1,"parameter":"k"})");
  EXPECT_EQ(k_of("3", R"("u")"), R"({"parameter":"k","stringValue":"u"})");
}

struct Wrong {
  const char* name;
  const char* trial;
  const char* field;
  const char* message;
};

class MlTrialOfWrong : public ::testing::TestWithParam<Wrong> {};

TEST_P(MlTrialOfWrong, SaysWhatIsWrong) {
  const auto trial = MlTrialOf(ParseRequest<aip::Trial>(GetParam().trial), Config());
  ASSERT_FALSE(trial);
  ASSERT_EQ(trial.error().violations.size(), 1U);
  EXPECT_EQ(trial.error().violations[0].field, GetParam().field);
  EXPECT_EQ(trial.error().violations[0].description, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, MlTrialOfWrong,
    ::testing::Values(Wrong{"text", R"({"parameters": [{"parameterId": "x", "value": "2"}]})",
                            "parameters[0].value", "The value of 'x' must be a number."},
                      Wrong{"number", R"({"parameters": [{"parameterId": "c", "value": 2}]})",
                            "parameters[0].value", "The value of 'c' must be a text."},
                      Wrong{"fraction", R"({"parameters": [{"parameterId": "n", "value": 2.5}]})",
                            "parameters[0].value", "The value of 'n' must be a whole number."},
                      Wrong{"huge", R"({"parameters": [{"parameterId": "n", "value": 1e300}]})",
                            "parameters[0].value", "The value of 'n' must be a whole number."},
                      Wrong{"absent", R"({"parameters": [{"parameterId": "x"}]})", "parameters[0].value",
                            "The value of 'x' must be a number or a text."},
                      Wrong{"list", R"({"parameters": [{"parameterId": "x", "value": [1]}]})",
                            "parameters[0].value", "The value of 'x' must be a number or a text."},
                      Wrong{"infeasible", R"({"state": "INFEASIBLE"})", "state",
                            "A new trial cannot be INFEASIBLE. Create it, and call CompleteTrial."}),
    [](const auto& row) { return row.param.name; });

ml::v1::Trial Trial(const char* state, const char* more = "") {
  return ParseRequest<ml::v1::Trial>(
      std::string(R"({"name": "projects/p/locations/us-central1/studies/oven/trials/2",
      "clientId": "me", "startTime": "2026-01-01T00:00:00Z", "endTime": "2026-01-01T00:00:01Z",
      "parameters": [{"parameter": "x", "floatValue": 0.5}, {"parameter": "n", "intValue": "3"},
        {"parameter": "c", "stringValue": "a"}],
      "measurements": [{"stepCount": "1", "elapsedTime": "0s", "metrics": [{"metric": "m", "value": 1}]}],
      "finalMeasurement": {"metrics": [{"metric": "m", "value": 2}]}, "state": ")") +
      state + "\"" + more + "}");
}

TEST(TrialOf, HasTheNamesOfVertex) {
  EXPECT_EQ(
      wire::PrintJsonCompact(TrialOf(Trial("COMPLETED"), kStudy)),
      std::string(R"({"name":")") + kStudy +
          R"(/trials/2","id":"2","state":"SUCCEEDED","parameters":[{"parameterId":"x","value":0.5},)"
          R"({"parameterId":"n","value":3},{"parameterId":"c","value":"a"}],)"
          R"("finalMeasurement":{"metrics":[{"metricId":"m","value":2}]},)"
          R"("measurements":[{"elapsedDuration":"0s","stepCount":"1","metrics":[{"metricId":"m","value":1}]}],)"
          R"("startTime":"2026-01-01T00:00:00Z","endTime":"2026-01-01T00:00:01Z","clientId":"me"})");
}

TEST(TrialOf, TellsInfeasibleTrialsApart) {
  const auto state = [](const char* ml, const char* more = "") { return TrialOf(Trial(ml, more), kStudy); };
  const aip::Trial infeasible =
      state("COMPLETED", R"(, "trialInfeasible": true, "infeasibleReason": "burnt")");
  EXPECT_EQ(infeasible.state(), aip::Trial::INFEASIBLE);
  EXPECT_EQ(infeasible.infeasible_reason(), "burnt");
  EXPECT_EQ(state("REQUESTED").state(), aip::Trial::REQUESTED);
  EXPECT_EQ(state("ACTIVE").state(), aip::Trial::ACTIVE);
  EXPECT_EQ(state("STOPPING").state(), aip::Trial::STOPPING);
}

TEST(MlRequestOf, HasWhatWasAsked) {
  const auto added = MlRequestOf(ParseRequest<aip::AddTrialMeasurementRequest>(
      R"({"measurement": {"metrics": [{"metricId": "m", "value": 1}]}})"));
  EXPECT_EQ(wire::PrintJsonCompact(added), R"({"measurement":{"metrics":[{"metric":"m","value":1}]}})");
  EXPECT_FALSE(MlRequestOf(aip::AddTrialMeasurementRequest()).has_measurement());
  const auto completed = MlRequestOf(
      ParseRequest<aip::CompleteTrialRequest>(R"({"trialInfeasible": true, "infeasibleReason": "r"})"));
  EXPECT_EQ(wire::PrintJsonCompact(completed), R"({"infeasibleReason":"r","trialInfeasible":true})");
  const auto suggest =
      MlRequestOf(ParseRequest<aip::SuggestTrialsRequest>(R"({"clientId": "me", "suggestionCount": 2})"));
  EXPECT_EQ(wire::PrintJsonCompact(suggest.value()), R"({"clientId":"me","suggestionCount":2})");
  const auto context =
      MlRequestOf(ParseRequest<aip::SuggestTrialsRequest>(R"({"clientId": "me", "contexts": [{}]})"));
  ASSERT_FALSE(context);
  EXPECT_EQ(context.error().violations.at(0).field, "contexts");
}

TEST(OperationOf, OfASuggestionHasItsTrials) {
  longrunning::Operation now;
  original::SuggestTrialsMetadata metadata;
  metadata.set_client_id("me");
  metadata.mutable_create_time()->set_seconds(1);
  now.mutable_metadata()->PackFrom(metadata);
  const auto begun = OperationOf(now, kStudy, 5);
  ASSERT_TRUE(begun);
  EXPECT_FALSE(begun->done());
  original::SuggestTrialsResponse response;
  response.set_study_state(ml::v1::Study::ACTIVE);
  *response.add_trials() = Trial("ACTIVE");
  response.mutable_end_time()->set_seconds(2);
  now.set_done(true);
  now.mutable_response()->PackFrom(response);
  const auto done = OperationOf(now, kStudy, 5);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->name(), std::string(kStudy) + "/operations/5");
  EXPECT_TRUE(done->done());
  aip::SuggestTrialsMetadata shown;
  ASSERT_TRUE(done->metadata().UnpackTo(&shown));
  EXPECT_EQ(shown.client_id(), "me");
  EXPECT_EQ(shown.generic_metadata().update_time().seconds(), 2);
  aip::SuggestTrialsResponse given;
  ASSERT_TRUE(done->response().UnpackTo(&given));
  EXPECT_EQ(given.study_state(), aip::Study::ACTIVE);
  EXPECT_EQ(given.trials(0).SerializeAsString(), TrialOf(Trial("ACTIVE"), kStudy).SerializeAsString());
}

TEST(OperationOf, OfACheckIsBelowTheTrial) {
  longrunning::Operation now;
  original::CheckTrialEarlyStoppingStateMetatdata metadata;
  metadata.set_trial("projects/p/locations/us-central1/studies/oven/trials/2");
  now.mutable_metadata()->PackFrom(metadata);
  original::CheckTrialEarlyStoppingStateResponse response;
  response.set_should_stop(true);
  now.mutable_response()->PackFrom(response);
  const auto done = OperationOf(now, kStudy, 6);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->name(), std::string(kStudy) + "/trials/2/operations/6");
  aip::CheckTrialEarlyStoppingStateMetatdata shown;
  ASSERT_TRUE(done->metadata().UnpackTo(&shown));
  EXPECT_EQ(shown.study(), kStudy);
  EXPECT_EQ(shown.trial(), std::string(kStudy) + "/trials/2");
  aip::CheckTrialEarlyStoppingStateResponse given;
  ASSERT_TRUE(done->response().UnpackTo(&given));
  EXPECT_TRUE(given.should_stop());
}

TEST(OperationOf, KeepsAnError) {
  longrunning::Operation now;
  now.mutable_metadata()->PackFrom(original::SuggestTrialsMetadata());
  now.set_done(true);
  now.mutable_error()->set_code(8);
  now.mutable_error()->set_message("no further trials");
  const auto done = OperationOf(now, kStudy, 7);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->error().code(), 8);
  EXPECT_EQ(done->error().message(), "no further trials");
  EXPECT_FALSE(OperationOf(longrunning::Operation(), kStudy, 8));
}

}  // namespace
}  // namespace trainyard::vertex::trial_test
