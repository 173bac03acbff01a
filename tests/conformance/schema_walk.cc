#include "conformance/schema_walk.h"

#include <google/protobuf/descriptor.h>

#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace trainyard::conformance {
namespace {

namespace json = boost::json;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using Type = FieldDescriptor::Type;

std::string Text(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

/// How JSON of a field looks in a discovery document: "string/int64", "boolean", "message".
std::string JsonType(const FieldDescriptor& field) {
  if (field.message_type() != nullptr) {
    static const std::map<std::string_view, std::string> kWellKnown{
        {"google.protobuf.Timestamp", "string/google-datetime"},
        {"google.protobuf.Duration", "string/google-duration"},
        {"google.protobuf.Struct", "any"},
        {"google.protobuf.Any", "any"},
    };
    const auto known = kWellKnown.find(field.message_type()->full_name());
    return known != kWellKnown.end() ? known->second : "message";
  }
  static const std::map<Type, std::string> kScalars{
      {FieldDescriptor::TYPE_STRING, "string"},        {FieldDescriptor::TYPE_BYTES, "string/byte"},
      {FieldDescriptor::TYPE_INT64, "string/int64"},   {FieldDescriptor::TYPE_UINT64, "string/uint64"},
      {FieldDescriptor::TYPE_INT32, "integer/int32"},  {FieldDescriptor::TYPE_UINT32, "integer/uint32"},
      {FieldDescriptor::TYPE_DOUBLE, "number/double"}, {FieldDescriptor::TYPE_FLOAT, "number/float"},
      {FieldDescriptor::TYPE_BOOL, "boolean"},         {FieldDescriptor::TYPE_ENUM, "enum"},
  };
  const auto scalar = kScalars.find(field.type());
  return scalar != kScalars.end() ? scalar->second : "none";
}

/// The same of a property. A message is a $ref or an object with properties.
std::string JsonType(const json::object& property) {
  if (property.contains("$ref") || property.contains("properties")) return "message";
  if (const auto* of_map = property.if_contains("additionalProperties");
      of_map != nullptr && Text(of_map->as_object(), "type") == "any")
    return "any";
  if (property.contains("enum")) return "enum";
  const std::string type = Text(property, "type");
  const std::string format = Text(property, "format");
  if (format == "date-time") return "string/google-datetime";  // storage's name for it
  if (type == "string" && format == "date") return "string";   // a day, which protobuf has no type for
  if (format == "google-fieldmask") return "string";           // kept as its text
  return format.empty() ? type : type + "/" + format;
}

class SchemaWalk {
 public:
  explicit SchemaWalk(const json::object& document) : schemas_(document.at("schemas").as_object()) {}

  void Schema(const std::string& name, const Descriptor& type) {
    if (!seen_.insert({name, type.full_name()}).second) return;
    const auto* schema = schemas_.if_contains(name);
    if (schema == nullptr) {
      differences_.push_back(name + ": the document has no such schema");
      return;
    }
    Properties(schema->as_object(), type);
  }

  std::vector<std::string> Take() { return std::move(differences_); }

 private:
  void Properties(const json::object& schema, const Descriptor& type) {
    const auto* properties = schema.if_contains("properties");
    if (properties == nullptr) return;
    for (const auto& [name, property] : properties->as_object()) {
      const std::string at = type.name() + "." + std::string(name);
      const FieldDescriptor* field = FieldNamed(type, name);
      if (field == nullptr) {
        differences_.push_back(at + " is missing");
      } else {
        Property(at, property.as_object(), *field);
      }
    }
  }

  static const FieldDescriptor* FieldNamed(const Descriptor& type, std::string_view json_name) {
    for (int i = 0; i < type.field_count(); ++i) {
      if (type.field(i)->json_name() == json_name) return type.field(i);
    }
    return nullptr;
  }

  void Property(const std::string& at, const json::object& property, const FieldDescriptor& field) {
    const auto* of_map = property.if_contains("additionalProperties");
    if (Text(property, "type") == "array") {
      if (!field.is_repeated() || field.is_map()) return Wrong(at, "a list", field);
      Value(at, property.at("items").as_object(), field);
    } else if (JsonType(property) == "any") {
      if (field.is_repeated() || JsonType(field) != "any") Wrong(at, "any JSON object", field);
    } else if (of_map != nullptr) {
      if (!field.is_map()) return Wrong(at, "a map", field);
      Value(at, of_map->as_object(), *field.message_type()->map_value());
    } else {
      if (field.is_repeated()) return Wrong(at, "a single value", field);
      Value(at, property, field);
    }
  }

  void Value(const std::string& at, const json::object& property, const FieldDescriptor& field) {
    const std::string wanted = JsonType(property);
    if (wanted != JsonType(field)) return Wrong(at, wanted, field);
    if (wanted == "enum") {
      for (const auto& value : property.at("enum").as_array()) {
        const std::string name(value.as_string());
        if (field.enum_type()->FindValueByName(name) == nullptr) {
          differences_.push_back(at + ": enum value " + name + " is missing");
        }
      }
    } else if (wanted == "message" && property.contains("$ref")) {
      Schema(Text(property, "$ref"), *field.message_type());
    } else if (wanted == "message") {
      Properties(property, *field.message_type());
    }
  }

  void Wrong(const std::string& at, const std::string& wanted, const FieldDescriptor& field) {
    differences_.push_back(at + ": " + wanted + " wanted, the proto has " +
                           (field.is_map()        ? "a map"
                            : field.is_repeated() ? "a list"
                                                  : JsonType(field)));
  }

  const json::object& schemas_;
  std::set<std::pair<std::string, std::string>> seen_;
  std::vector<std::string> differences_;
};

}  // namespace

std::vector<std::string> Differences(const json::object& document, const std::string& schema,
                                     const Descriptor& type) {
  SchemaWalk walk(document);
  walk.Schema(schema, type);
  return walk.Take();
}

}  // namespace trainyard::conformance
