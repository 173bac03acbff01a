#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "google/cloud/aiplatform/v1/aiplatform.pb.h"
#include "google/longrunning/operations.pb.h"

namespace trainyard::vertex::field_numbers_test {
namespace {

namespace aip = google::cloud::aiplatform::v1;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;

/// One message of each file: a file that nothing uses is not linked, and the pool does not know it.
std::vector<const google::protobuf::Descriptor*> LinkedFiles() {
  return {aip::CustomJob::descriptor(),
          aip::ListCustomJobsResponse::descriptor(),
          aip::Model::descriptor(),
          aip::UploadModelRequest::descriptor(),
          aip::DeleteOperationMetadata::descriptor(),
          aip::ListTrainingPipelinesResponse::descriptor(),
          aip::Study::descriptor(),
          aip::TrainingPipeline::descriptor(),
          aip::HyperparameterTuningJob::descriptor(),
          aip::SuggestTrialsRequest::descriptor(),
          google::longrunning::WaitOperationRequest::descriptor()};
}

boost::json::object Recorded() {
  std::ifstream file(TRAINYARD_VERTEX_FIELDS);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return boost::json::parse(text).as_object();
}

std::string TypeOf(const FieldDescriptor& field) {
  if (field.is_map()) {
    const google::protobuf::Descriptor& entry = *field.message_type();
    return "map<" + TypeOf(*entry.map_key()) + "," + TypeOf(*entry.map_value()) + ">";
  }
  if (field.message_type() != nullptr) return field.message_type()->full_name();
  if (field.enum_type() != nullptr) return field.enum_type()->full_name();
  return field.type_name();
}

/// "7 string optional": the part of a field that clients depend on.
std::string Describe(const FieldDescriptor& field) {
  std::string text = std::to_string(field.number()) + " " + TypeOf(field);
  if (field.is_map()) return text;
  if (field.is_repeated()) return text + " repeated";
  if (field.real_containing_oneof() != nullptr) return text + " " + field.real_containing_oneof()->name();
  return field.has_optional_keyword() ? text + " optional" : text;
}

std::string Describe(const boost::json::array& recorded) {
  std::string text = std::to_string(recorded.at(0).as_int64());
  for (std::size_t i = 1; i < recorded.size(); ++i) text.append(" ").append(recorded.at(i).as_string());
  return text;
}

TEST(VertexProtos, HaveTheFieldsOfGooglesClients) {
  ASSERT_FALSE(LinkedFiles().empty());
  const boost::json::object recorded = Recorded();
  int messages = 0;
  for (const auto& [name, fields] : recorded.at("messages").as_object()) {
    const auto* message = DescriptorPool::generated_pool()->FindMessageTypeByName(std::string(name));
    ASSERT_NE(message, nullptr) << name;
    ++messages;
    EXPECT_EQ(static_cast<std::size_t>(message->field_count()), fields.as_object().size()) << name;
    for (const auto& [field_name, is] : fields.as_object()) {
      const FieldDescriptor* field = message->FindFieldByName(std::string(field_name));
      ASSERT_NE(field, nullptr) << name << " " << field_name;
      EXPECT_EQ(Describe(*field), Describe(is.as_array())) << name << " " << field_name;
    }
  }
  EXPECT_GT(messages, 100);
}

TEST(VertexProtos, HaveTheEnumsOfGooglesClients) {
  ASSERT_FALSE(LinkedFiles().empty());
  const boost::json::object recorded = Recorded();
  for (const auto& [name, values] : recorded.at("enums").as_object()) {
    const auto* type = DescriptorPool::generated_pool()->FindEnumTypeByName(std::string(name));
    ASSERT_NE(type, nullptr) << name;
    EXPECT_EQ(static_cast<std::size_t>(type->value_count()), values.as_object().size()) << name;
    for (const auto& [value_name, number] : values.as_object()) {
      const auto* value = type->FindValueByName(std::string(value_name));
      ASSERT_NE(value, nullptr) << name << " " << value_name;
      EXPECT_EQ(value->number(), number.as_int64()) << name << " " << value_name;
    }
  }
}

}  // namespace
}  // namespace trainyard::vertex::field_numbers_test
