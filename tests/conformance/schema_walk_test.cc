#include "conformance/schema_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "trainyard/logging/v2/logging.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::conformance {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> JobDifferences(const std::string& properties) {
  const auto document = boost::json::parse(R"({"schemas": {"Job": {"properties": )" + properties + R"(},
      "Input": {"properties": {"args": {"type": "array", "items": {"type": "string"}},
                               "hyperparameters": {"$ref": "Spec"}, "workerConfig": {"$ref": "Nothing"}}},
      "Spec": {"properties": {"goal": {"type": "string", "enum": ["MAXIMIZE", "EQUALIZE"]},
                              "maxTrials": {"type": "integer", "format": "int32"}, "newField": {"type": "string"}}}}})");
  return Differences(document.as_object(), "Job", *ml::v1::Job::descriptor());
}

TEST(SchemaWalk, AcceptsWhatIsThere) {
  EXPECT_THAT(JobDifferences(R"({"jobId": {"type": "string"}, "etag": {"type": "string", "format": "byte"},
      "labels": {"type": "object", "additionalProperties": {"type": "string"}},
      "createTime": {"type": "string", "format": "google-datetime"}, "state": {"type": "string", "enum": ["QUEUED"]}})"),
              IsEmpty());
}

TEST(SchemaWalk, FindsAMissingProperty) {
  EXPECT_THAT(JobDifferences(R"({"priority": {"type": "string"}})"), ElementsAre("Job.priority is missing"));
}

TEST(SchemaWalk, FindsWhatIsMissingBelow) {
  EXPECT_THAT(
      JobDifferences(R"({"trainingInput": {"$ref": "Input"}})"),
      ElementsAre("HyperparameterSpec.goal: enum value EQUALIZE is missing",
                  "HyperparameterSpec.newField is missing", "Nothing: the document has no such schema"));
}

TEST(SchemaWalk, FindsAnotherType) {
  EXPECT_THAT(JobDifferences(R"({"jobId": {"type": "string", "format": "int64"}})"),
              ElementsAre("Job.jobId: string/int64 wanted, the proto has string"));
  EXPECT_THAT(JobDifferences(R"({"jobPosition": {"type": "integer", "format": "int32"}})"),
              ElementsAre("Job.jobPosition: integer/int32 wanted, the proto has string/int64"));
  EXPECT_THAT(JobDifferences(R"({"jobId": {"type": "array", "items": {"type": "string"}}})"),
              ElementsAre("Job.jobId: a list wanted, the proto has string"));
  EXPECT_THAT(JobDifferences(R"({"labels": {"type": "string"}})"),
              ElementsAre("Job.labels: a single value wanted, the proto has a map"));
  EXPECT_THAT(JobDifferences(R"({"jobId": {"type": "object", "additionalProperties": {"type": "string"}}})"),
              ElementsAre("Job.jobId: a map wanted, the proto has string"));
  EXPECT_THAT(
      JobDifferences(R"({"labels": {"type": "object", "additionalProperties": {"type": "boolean"}}})"),
      ElementsAre("Job.labels: boolean wanted, the proto has string"));
  EXPECT_THAT(JobDifferences(R"({"state": {"type": "object", "additionalProperties": {"type": "any"}}})"),
              ElementsAre("Job.state: any JSON object wanted, the proto has enum"));
  EXPECT_THAT(JobDifferences(R"({"state": {"type": "object", "properties": {"a": {"type": "string"}}}})"),
              ElementsAre("Job.state: message wanted, the proto has enum"));
}

TEST(SchemaWalk, FindsInlineObjects) {
  EXPECT_THAT(JobDifferences(
                  R"({"trainingInput": {"type": "object", "properties": {"colour": {"type": "string"}}}})"),
              ElementsAre("TrainingInput.colour is missing"));
}

TEST(SchemaWalk, NamesAMissingSchema) {
  const auto document = boost::json::parse(R"({"schemas": {}})");
  EXPECT_THAT(Differences(document.as_object(), "LogEntry", *logging::v2::LogEntry::descriptor()),
              ElementsAre("LogEntry: the document has no such schema"));
}

}  // namespace
}  // namespace trainyard::conformance
