#include "wire/field_name.h"

namespace trainyard::wire {

const google::protobuf::FieldDescriptor* FindField(const google::protobuf::Descriptor& type,
                                                   std::string_view name) {
  for (int i = 0; i < type.field_count(); ++i) {
    const google::protobuf::FieldDescriptor* field = type.field(i);
    if (field->json_name() == name || field->name() == name) return field;
  }
  return nullptr;
}

}  // namespace trainyard::wire
