#pragma once

#include <google/protobuf/descriptor.h>

#include <string_view>

namespace trainyard::wire {

/// The field of that name, as the proto has it or as JSON has it ("consumed_ml_units", "consumedMLUnits": not
/// always what camel case would make of it). Null if there is none. Pure: any thread.
[[nodiscard]] const google::protobuf::FieldDescriptor* FindField(const google::protobuf::Descriptor& type,
                                                                 std::string_view name);

}  // namespace trainyard::wire
