#pragma once

#include "base/result.h"
#include "base/wire/json_tree.h"

namespace google::protobuf {
class Descriptor;
}

namespace trainyard::wire {

/// Converts the values of a configuration file to the API's JSON, for the fields of the message type: 64-bit
/// integers become strings, a single value of a list becomes a list, null is removed. Unknown fields and enum
/// values are unchanged: the server checks them. kInvalidArgument with the field's path if YAML read a number
/// or a boolean and the field is text: otherwise `runtimeVersion: 2.10` would arrive as 2.1. Pure: any
/// thread. Source: gcloud's DictToMessage, which rejects the same values.
[[nodiscard]] Result<JsonValue> FitFields(const JsonValue& value, const google::protobuf::Descriptor& type);

}  // namespace trainyard::wire
