#include "base/wire/fit_fields.h"

#include <google/protobuf/descriptor.h>

#include <string>
#include <string_view>
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

std::string_view KindOf(const Json& value) {
  switch (value.kind) {
    case Json::Kind::kArray: return "a list";
    case Json::Kind::kObject: return "a mapping";
    case Json::Kind::kNumber: return "a number";
    default: return "a text";
  }
}

std::unexpected<Error> Not(std::string_view wanted, const Json& value, const std::string& path) {
  return std::unexpected(
      InvalidArgument(path, "It must be " + std::string(wanted) + ", and is " + std::string(KindOf(value))));
}

/// YAML 1.1 reads 010 as 8, which nobody means who writes a count.
bool IsOctal(const Json& value) {
  return value.written.size() > 1 && value.written.front() == '0' &&
         value.written.find_first_not_of("01234567") == std::string::npos;
}

Result<Json> FitValue(const Json& value, const FieldDescriptor& field, const std::string& path) {
  if (field.message_type() == nullptr && !IsScalar(value)) return Not("a single value", value, path);
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_STRING && IsOctal(value))
    return std::unexpected(InvalidArgument(path, "YAML reads " + value.written + " as the octal number " +
                                                     value.text +
                                                     "; write it without the 0 at its beginning"));
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      if (value.kind == Json::Kind::kNumber && field.type() == FieldDescriptor::TYPE_STRING) {
        Json text = value;
        text.kind = Json::Kind::kString;
        if (!text.written.empty()) text.text = std::exchange(text.written, {});
        return text;
      }
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
      if (!field.message_type()->full_name().starts_with("google.protobuf."))
        return Not("a mapping of field names to values", value, path);
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
  Json fitted{.kind = Json::Kind::kObject, .name = value.name, .line = value.line};
  const FieldDescriptor& element = *field.message_type()->map_value();
  for (const Json& member : value.children) {
    TY_TRY(Json one, FitValue(member, element, path + "." + member.name));
    fitted.children.push_back(std::move(one));
  }
  return fitted;
}

Result<Json> FitField(const Json& value, const FieldDescriptor& field, const std::string& path) {
  if (field.is_map() && value.kind != Json::Kind::kObject) return Not("a mapping", value, path);
  if (field.is_map()) return FitMap(value, field, path);
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
  Json fitted{.kind = Json::Kind::kObject, .name = value.name, .line = value.line};
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
