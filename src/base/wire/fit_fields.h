#pragma once

#include "base/result.h"
#include "base/wire/json_tree.h"

namespace google::protobuf {
class Descriptor;
}

namespace trainyard::wire {

/// Converts the values of a configuration file to the API's JSON, for the fields of the message type: 64-bit
/// integers become strings, a number where the field is text becomes the text that was written
/// (`runtimeVersion: 2.10` is "2.10", not "2.1"), a single value of a list becomes a list, null is removed.
/// Unknown fields and enum values are unchanged: the server checks them. kInvalidArgument with the field's
/// path if YAML read a boolean and the field is text, a number and it is a time, an octal number and it is a
/// number, or if a value is of another kind (a list, a mapping, a single value) than the field. Pure: any
/// thread.
[[nodiscard]] Result<JsonValue> FitFields(const JsonValue& value, const google::protobuf::Descriptor& type);

}  // namespace trainyard::wire
