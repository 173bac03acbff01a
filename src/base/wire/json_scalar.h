#pragma once

#include <string>

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
}  // namespace google::protobuf

namespace trainyard::wire {

struct JsonValue;

/// Whether a string, number or bool is a value of this scalar or enum field in protobuf's mapping. Enum
/// numbers must be known. Pure: any thread.
[[nodiscard]] bool FitsScalar(const JsonValue& value, const google::protobuf::FieldDescriptor& field);

/// The value as Google's transcoder writes it in an error: "abc" in quotes, numbers and bools as written.
[[nodiscard]] std::string EchoScalar(const JsonValue& value);

/// "TYPE_INT64", or the type URL of an enum, with the name that Google's service uses.
[[nodiscard]] std::string ScalarTypeName(const google::protobuf::FieldDescriptor& field);

/// "type.googleapis.com/google.cloud.ml.v1.TrainingInput".
[[nodiscard]] std::string MessageUrl(const google::protobuf::Descriptor& type);

}  // namespace trainyard::wire
