#include "api/vertex/grpc_methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "api/route.h"
#include "google/cloud/aiplatform/v1/aiplatform.pb.h"

namespace trainyard::api::grpc_methods_test {
namespace {

namespace aip = google::cloud::aiplatform::v1;
using ::testing::HasSubstr;
using Body = GrpcMethod::Body;

const std::string kVizier = "/google.cloud.aiplatform.v1.VizierService/";
const std::string kStudy = "projects/p/locations/us-central1/studies/7";

GrpcParts Parts(const std::string& method, const std::string& message) {
  const std::optional<GrpcCall> call = FindGrpcCall(kVizier + method);
  EXPECT_TRUE(call) << method;
  Result<GrpcParts> parts = PartsOf(*call->method, message);
  EXPECT_TRUE(parts) << method;
  return parts.value_or(GrpcParts());
}

TEST(FindGrpcCall, EachRouteOfVertexHasOne) {
  for (const Route& row : VertexRoutes()) {
    std::string path = "/" + std::string(row.rule.method_name);
    path[path.rfind('.')] = '/';
    const std::optional<GrpcCall> call = FindGrpcCall(path);
    ASSERT_TRUE(call) << path;
    EXPECT_NE(call->method->request, nullptr) << path;
    EXPECT_NE(call->method->answer, nullptr) << path;
    EXPECT_TRUE(row.rule.route.starts_with(call->method->verb + " ")) << path;
    EXPECT_TRUE(row.rule.route.ends_with(call->method->suffix)) << path;
  }
}

TEST(FindGrpcCall, TakesBothVersionsAndNoOther) {
  EXPECT_EQ(FindGrpcCall(kVizier + "GetStudy")->version, "v1");
  EXPECT_EQ(FindGrpcCall("/google.cloud.aiplatform.v1beta1.VizierService/GetStudy")->version, "v1beta1");
  EXPECT_EQ(FindGrpcCall("/google.longrunning.Operations/GetOperation")->version, "v1");
  EXPECT_FALSE(FindGrpcCall("/google.cloud.aiplatform.v2.VizierService/GetStudy"));
  EXPECT_FALSE(FindGrpcCall(kVizier + "GetStudies"));
}

TEST(GrpcMethod, HasThePathsOfItsRoutes) {
  const GrpcMethod& operation = *FindGrpcCall("/google.longrunning.Operations/GetOperation")->method;
  const std::string below = "/aiplatform/v1/projects/p/locations/l/";
  EXPECT_TRUE(operation.HasPath(below + "operations/1"));
  EXPECT_TRUE(operation.HasPath(below + "studies/7/operations/1"));
  EXPECT_TRUE(operation.HasPath(below + "studies/7/trials/2/operations/1"));
  EXPECT_FALSE(operation.HasPath(below + "studies/7"));
  EXPECT_FALSE(operation.HasPath(below + "customJobs/7/operations/1/more"));
  EXPECT_TRUE(FindGrpcCall(kVizier + "LookupStudy")->method->HasPath(below + "studies:lookup"));
}

TEST(PartsOf, AListIsAQuery) {
  aip::ListTrialsRequest asked;
  asked.set_parent(kStudy);
  asked.set_page_size(2);
  asked.set_page_token("a b");
  const GrpcParts parts = Parts("ListTrials", asked.SerializeAsString());
  EXPECT_EQ(parts.name, kStudy);
  EXPECT_EQ(parts.query, "?pageToken=a%20b&pageSize=2");
  EXPECT_EQ(parts.body, nullptr);
}

TEST(PartsOf, ACreateHasTheResourceAsItsBody) {
  aip::CreateStudyRequest asked;
  asked.set_parent("projects/p/locations/us-central1");
  asked.mutable_study()->set_display_name("oven");
  const std::string message = asked.SerializeAsString();
  const GrpcParts parts = Parts("CreateStudy", message);
  EXPECT_EQ(parts.name, asked.parent());
  EXPECT_EQ(parts.body, aip::Study::descriptor());
  EXPECT_EQ(parts.serialized, asked.study().SerializeAsString());
}

TEST(PartsOf, OtherPostsHaveTheWholeMessageAsTheirBody) {
  aip::SuggestTrialsRequest suggest;
  suggest.set_parent(kStudy);
  suggest.set_client_id("me");
  std::string message = suggest.SerializeAsString();
  const GrpcParts parts = Parts("SuggestTrials", message);
  EXPECT_EQ(parts.name, kStudy);
  EXPECT_EQ(parts.body, aip::SuggestTrialsRequest::descriptor());
  EXPECT_EQ(parts.serialized, message);
  aip::AddTrialMeasurementRequest add;
  add.set_trial_name(kStudy + "/trials/1");
  message = add.SerializeAsString();
  EXPECT_EQ(Parts("AddTrialMeasurement", message).name, add.trial_name());
  aip::CompleteTrialRequest complete;
  complete.set_name(kStudy + "/trials/2");
  message = complete.SerializeAsString();
  EXPECT_EQ(Parts("CompleteTrial", message).name, complete.name());
}

TEST(PartsOf, ReadsOnlyTheTopLevelOfABody) {
  const std::string study = "\x0a\x7f";  // a string of 127 bytes that is not there
  const std::string message = std::string("\x12\x02") + study;
  const GrpcParts parts = Parts("CreateStudy", message);
  EXPECT_EQ(parts.serialized, study);
  EXPECT_FALSE(PartsOf(*FindGrpcCall(kVizier + "CreateStudy")->method, study));
  EXPECT_FALSE(PartsOf(*FindGrpcCall(kVizier + "GetStudy")->method, study));
}

Result<std::string> Read(const google::protobuf::Message& type, const std::string& serialized) {
  MessageBody body(type.GetDescriptor(), serialized);
  boost::asio::io_context loop;
  Result<std::string> text = std::unexpected(Internal("no text"));
  boost::asio::co_spawn(loop, body.ReadAll(1000),
                        [&](std::exception_ptr, Result<std::string> all) { text = std::move(all); });
  loop.run();
  return text;
}

TEST(MessageBody, IsTheMessageAsJson) {
  aip::CompleteTrialRequest asked;
  asked.set_trial_infeasible(true);
  EXPECT_EQ(Read(asked, asked.SerializeAsString()).value(), R"({"trialInfeasible":true})");
  EXPECT_THAT(Read(asked, "\x0a\x7f").error().message, HasSubstr("no CompleteTrialRequest that can be read"));
}

TEST(MessageBody, MayBeOneThatHasNoJson) {
  aip::CustomJob unknown;
  unknown.mutable_error()->add_details()->set_type_url("type.googleapis.com/nobody.knows.It");
  unknown.mutable_error()->mutable_details(0)->set_value("\x01");
  aip::CustomJob ages;
  ages.mutable_job_spec()->mutable_scheduling()->mutable_timeout()->set_seconds(std::int64_t{1} << 62U);
  aip::TrainingPipeline deep;
  google::protobuf::Value* at = deep.mutable_training_task_inputs();
  for (int i = 0; i < 1'000; ++i) at = at->mutable_list_value()->add_values();
  at->set_bool_value(true);
  for (const google::protobuf::Message* asked :
       std::initializer_list<const google::protobuf::Message*>{&unknown, &ages, &deep}) {
    const Result<std::string> read = Read(*asked, asked->SerializeAsString());
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::kInvalidArgument);
    EXPECT_THAT(read.error().message, HasSubstr("that can be read"));
  }
}

}  // namespace
}  // namespace trainyard::api::grpc_methods_test
