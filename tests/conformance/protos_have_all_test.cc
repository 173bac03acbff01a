#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/parse.hpp>

#include <google/protobuf/empty.pb.h>

#include "conformance/discovery_files.h"
#include "conformance/schema_walk.h"
#include "trainyard/iam/v1/policy.pb.h"
#include "trainyard/logging/v2/logging.pb.h"
#include "trainyard/longrunning/operations.pb.h"
#include "trainyard/ml/v1/ml.pb.h"
#include "trainyard/ml/v1/study.pb.h"
#include "trainyard/ml/v1/study_operations.pb.h"
#include "trainyard/storage/v1/storage.pb.h"

namespace trainyard::conformance {
namespace {

struct Row {
  const char* name;
  const char* file;
  const char* schema;
  const google::protobuf::Descriptor* type;
};

class ProtosHaveAll : public testing::TestWithParam<Row> {};

TEST_P(ProtosHaveAll, OfTheSchema) {
  const auto files = discovery::Files();
  const auto file = std::ranges::find(files, GetParam().file, &discovery::EmbeddedFile::name);
  ASSERT_NE(file, files.end());
  const auto document = boost::json::parse(file->bytes);
  EXPECT_THAT(Differences(document.as_object(), GetParam().schema, *GetParam().type), testing::IsEmpty());
}

template <class Message>
Row Ml(const char* name, const char* schema) {
  return {name, "ml.v1.json", schema, Message::descriptor()};
}
template <class Message>
Row Storage(const char* schema) {
  return {schema, "storage.v1.json", schema, Message::descriptor()};
}
template <class Message>
Row Logging(const char* schema) {
  return {schema, "logging.v2.json", schema, Message::descriptor()};
}

INSTANTIATE_TEST_SUITE_P(
    Resources, ProtosHaveAll,
    testing::Values(
        Ml<ml::v1::Job>("Job", "GoogleCloudMlV1__Job"),
        Ml<ml::v1::ListJobsResponse>("ListJobsResponse", "GoogleCloudMlV1__ListJobsResponse"),
        Ml<ml::v1::CancelJobRequest>("CancelJobRequest", "GoogleCloudMlV1__CancelJobRequest"),
        Ml<ml::v1::GetConfigResponse>("GetConfigResponse", "GoogleCloudMlV1__GetConfigResponse"),
        Ml<ml::v1::Location>("Location", "GoogleCloudMlV1__Location"),
        Ml<ml::v1::ListLocationsResponse>("ListLocationsResponse", "GoogleCloudMlV1__ListLocationsResponse"),
        Ml<ml::v1::Study>("Study", "GoogleCloudMlV1__Study"),
        Ml<ml::v1::ListStudiesResponse>("ListStudiesResponse", "GoogleCloudMlV1__ListStudiesResponse"),
        Ml<ml::v1::Trial>("Trial", "GoogleCloudMlV1__Trial"),
        Ml<ml::v1::ListTrialsResponse>("ListTrialsResponse", "GoogleCloudMlV1__ListTrialsResponse"),
        Ml<ml::v1::ListOptimalTrialsRequest>("ListOptimalTrialsRequest",
                                             "GoogleCloudMlV1__ListOptimalTrialsRequest"),
        Ml<ml::v1::ListOptimalTrialsResponse>("ListOptimalTrialsResponse",
                                              "GoogleCloudMlV1__ListOptimalTrialsResponse"),
        Ml<ml::v1::SuggestTrialsRequest>("SuggestTrialsRequest", "GoogleCloudMlV1__SuggestTrialsRequest"),
        Ml<ml::v1::AddTrialMeasurementRequest>("AddTrialMeasurementRequest",
                                               "GoogleCloudMlV1__AddTrialMeasurementRequest"),
        Ml<ml::v1::CompleteTrialRequest>("CompleteTrialRequest", "GoogleCloudMlV1__CompleteTrialRequest"),
        Ml<ml::v1::StopTrialRequest>("StopTrialRequest", "GoogleCloudMlV1__StopTrialRequest"),
        Ml<ml::v1::CheckTrialEarlyStoppingStateRequest>(
            "CheckTrialEarlyStoppingStateRequest", "GoogleCloudMlV1__CheckTrialEarlyStoppingStateRequest"),
        Ml<google::cloud::ml::v1::SuggestTrialsMetadata>("SuggestTrialsMetadata",
                                                         "GoogleCloudMlV1__SuggestTrialsMetadata"),
        Ml<google::cloud::ml::v1::SuggestTrialsResponse>("SuggestTrialsResponse",
                                                         "GoogleCloudMlV1__SuggestTrialsResponse"),
        Ml<google::cloud::ml::v1::CheckTrialEarlyStoppingStateMetatdata>(
            "CheckTrialEarlyStoppingStateMetatdata",
            "GoogleCloudMlV1__CheckTrialEarlyStoppingStateMetatdata"),
        Ml<google::cloud::ml::v1::CheckTrialEarlyStoppingStateResponse>(
            "CheckTrialEarlyStoppingStateResponse", "GoogleCloudMlV1__CheckTrialEarlyStoppingStateResponse"),
        Ml<iam::v1::Policy>("Policy", "GoogleIamV1__Policy"),
        Ml<iam::v1::SetIamPolicyRequest>("SetIamPolicyRequest", "GoogleIamV1__SetIamPolicyRequest"),
        Ml<iam::v1::TestIamPermissionsRequest>("TestIamPermissionsRequest",
                                               "GoogleIamV1__TestIamPermissionsRequest"),
        Ml<iam::v1::TestIamPermissionsResponse>("TestIamPermissionsResponse",
                                                "GoogleIamV1__TestIamPermissionsResponse"),
        Ml<longrunning::Operation>("Operation", "GoogleLongrunning__Operation"),
        Ml<longrunning::ListOperationsResponse>("ListOperationsResponse",
                                                "GoogleLongrunning__ListOperationsResponse"),
        Ml<google::protobuf::Empty>("Empty", "GoogleProtobuf__Empty"), Storage<storage::v1::Bucket>("Bucket"),
        Storage<storage::v1::Buckets>("Buckets"), Storage<storage::v1::Object>("Object"),
        Storage<storage::v1::Objects>("Objects"), Storage<storage::v1::RewriteResponse>("RewriteResponse"),
        Storage<storage::v1::ComposeRequest>("ComposeRequest"),
        Storage<storage::v1::BucketStorageLayout>("BucketStorageLayout"),
        Logging<logging::v2::LogEntry>("LogEntry"),
        Logging<logging::v2::ListLogEntriesRequest>("ListLogEntriesRequest"),
        Logging<logging::v2::ListLogEntriesResponse>("ListLogEntriesResponse")),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::conformance
