#pragma once

#include <google/protobuf/descriptor.h>

#include <string_view>

namespace trainyard::wire {

/// The field of that name, as the proto has it or as JSON has it ("consumed_ml_units", "consumedMLUnits": not
/// always what camel case would make of it). Null if there is none. Pure: any thread.
[[nodiscard]] inline const google::protobuf::FieldDescriptor* FindField(
    const google::protobuf::Descriptor& type, std::string_view name) {
  for (int i = 0; i < type.field_count(); ++i) {
    const google::protobuf::FieldDescriptor* field = type.field(i);
    if (field->json_name() == name || field->name() == name) return field;
  }
  return nullptr;
}

}  // namespace trainyard::wire
