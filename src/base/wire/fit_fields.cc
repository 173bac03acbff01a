#include "base/wire/fit_fields.h"

#include <google/protobuf/descriptor.h>

#include <string>
#include <utility>

namespace trainyard::wire {
namespace {

using Json = JsonValue;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

Result<Json> FitMessage(const Json& value, const Descriptor& type, const std::string& path);

bool IsScalar(const Json& value) {
  return value.kind != Json::Kind::kObject && value.kind != Json::Kind::kArray;
}

Result<Json> FitValue(const Json& value, const FieldDescriptor& field, const std::string& path) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      if (value.kind == Json::Kind::kNumber || value.kind == Json::Kind::kBool)
        return std::unexpected(InvalidArgument(
            path, "Expected type string for field " + std::string(field.json_name()) + ", found " +
                      value.text + "; put it in quotes: \"" + value.text + "\""));
      return value;
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
      if (value.kind == Json::Kind::kNumber) {
        Json text = value;
        text.kind = Json::Kind::kString;
        return text;
      }
      return value;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (value.kind == Json::Kind::kObject) return FitMessage(value, *field.message_type(), path);
      // Durations and times are text in JSON; YAML may have read a number.
      if (IsScalar(value) && value.kind == Json::Kind::kNumber &&
          field.message_type()->full_name().starts_with("google.protobuf."))
        return std::unexpected(InvalidArgument(path, "Expected type string for field " +
                                                         std::string(field.json_name()) + ", found " +
                                                         value.text + "; put it in quotes, with its unit"));
      return value;
    default: return value;
  }
}

Result<Json> FitMap(const Json& value, const FieldDescriptor& field, const std::string& path) {
  Json fitted{.kind = Json::Kind::kObject};
  fitted.name = value.name;
  const FieldDescriptor& element = *field.message_type()->map_value();
  for (const Json& member : value.children) {
    TY_TRY(Json one, FitValue(member, element, path + "." + member.name));
    fitted.children.push_back(std::move(one));
  }
  return fitted;
}

Result<Json> FitField(const Json& value, const FieldDescriptor& field, const std::string& path) {
  if (field.is_map())
    return value.kind == Json::Kind::kObject ? FitMap(value, field, path) : Result<Json>(value);
  if (!field.is_repeated()) return FitValue(value, field, path);
  Json list{.kind = Json::Kind::kArray, .name = value.name};
  if (value.kind != Json::Kind::kArray) {
    Json single = value;
    single.name.clear();
    list.children.push_back(std::move(single));
  } else {
    list.children = value.children;
  }
  for (std::size_t i = 0; i < list.children.size(); ++i) {
    TY_TRY(Json fitted, FitValue(list.children[i], field, path + "[" + std::to_string(i) + "]"));
    list.children[i] = std::move(fitted);
  }
  return list;
}

const FieldDescriptor* FindField(const Descriptor& type, const std::string& json_name) {
  for (int i = 0; i < type.field_count(); ++i)
    if (type.field(i)->json_name() == json_name) return type.field(i);
  return nullptr;
}

Result<Json> FitMessage(const Json& value, const Descriptor& type, const std::string& path) {
  Json fitted{.kind = Json::Kind::kObject};
  fitted.name = value.name;
  for (const Json& member : value.children) {
    const FieldDescriptor* field = FindField(type, member.name);
    if (field == nullptr) {
      fitted.children.push_back(member);
    } else if (member.kind != Json::Kind::kNull) {
      TY_TRY(Json one, FitField(member, *field, path.empty() ? member.name : path + "." + member.name));
      fitted.children.push_back(std::move(one));
    }
  }
  return fitted;
}

}  // namespace

Result<JsonValue> FitFields(const JsonValue& value, const Descriptor& type) {
  return FitMessage(value, type, "");
}

}  // namespace trainyard::wire
