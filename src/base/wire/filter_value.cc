#include "base/wire/filter_value.h"

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/message.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/ascii.h"
#include "base/wire/field_name.h"
#include "base/wire/time.h"

namespace trainyard::wire {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Path = std::vector<std::string>;

FieldValue Plain(std::string text) { return {.value = std::move(text)}; }

/// Walks down one path; the parts before `at` are done.
class PathWalk {
 public:
  explicit PathWalk(const Path& path) : path_(path) {}

  void Enter(const Message& message, std::size_t at) {
    if (const auto* time = google::protobuf::DynamicCastToGenerated<google::protobuf::Timestamp>(&message)) {
      if (at == path_.size()) Found({.value = FromProto(*time)});
    } else if (const auto* length =
                   google::protobuf::DynamicCastToGenerated<google::protobuf::Duration>(&message)) {
      if (at == path_.size()) Found({.value = FromProto(*length)});
    } else if (const auto* any =
                   google::protobuf::DynamicCastToGenerated<google::protobuf::Value>(&message)) {
      EnterValue(*any, at);
    } else if (at == path_.size()) {
      Found({.value = NestedValue{&message}});
    } else if (const auto* fields =
                   google::protobuf::DynamicCastToGenerated<google::protobuf::Struct>(&message)) {
      const auto member = fields->fields().find(path_[at]);
      if (member != fields->fields().end()) EnterValue(member->second, at + 1);
    } else {
      EnterField(message, at);
    }
  }

  [[nodiscard]] std::vector<FieldValue> Take() { return std::move(found_); }

 private:
  void Found(FieldValue value) { found_.push_back(std::move(value)); }

  void EnterValue(const google::protobuf::Value& value, std::size_t at) {
    using Kind = google::protobuf::Value::KindCase;
    if (value.kind_case() == Kind::kStructValue) return Enter(value.struct_value(), at);
    if (value.kind_case() == Kind::kListValue) {
      for (const auto& element : value.list_value().values()) EnterValue(element, at);
      return;
    }
    if (at != path_.size()) return;
    if (value.kind_case() == Kind::kStringValue) Found(Plain(value.string_value()));
    if (value.kind_case() == Kind::kNumberValue) Found({.value = value.number_value()});
    if (value.kind_case() == Kind::kBoolValue) Found({.value = value.bool_value()});
    if (value.kind_case() == Kind::kNullValue)
      Found({.value = google::protobuf::NullValue_descriptor()->value(0)});
  }

  void EnterField(const Message& message, std::size_t at) {
    const FieldDescriptor* field = FindField(*message.GetDescriptor(), path_[at]);
    if (field == nullptr) return;
    const Reflection& reflection = *message.GetReflection();
    if (field->is_map()) return EnterMap(message, *field, at + 1);
    if (field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
        if (field->message_type() != nullptr) {
          Enter(reflection.GetRepeatedMessage(message, field, i), at + 1);
        } else if (at + 1 == path_.size() && field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
          Found(Plain(reflection.GetRepeatedString(message, field, i)));
        }
      }
    } else if (field->message_type() != nullptr) {
      // Scalar fields below an unset message have their defaults.
      if (at + 1 < path_.size() || reflection.HasField(message, field))
        Enter(reflection.GetMessage(message, field), at + 1);
    } else if (at + 1 == path_.size()) {
      Scalar(message, *field, false);
    }
  }

  /// A key may contain dots: the rest of the path is tried as one key, too.
  void EnterMap(const Message& message, const FieldDescriptor& field, std::size_t at) {
    const Reflection& reflection = *message.GetReflection();
    std::string rest;
    for (std::size_t i = at; i < path_.size(); ++i) rest += (i > at ? "." : "") + path_[i];
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
      if (at == path_.size()) {
        Found({.value = NestedValue{&entry}});
        continue;
      }
      const FieldDescriptor* key = entry.GetDescriptor()->map_key();
      if (key->cpp_type() != FieldDescriptor::CPPTYPE_STRING) continue;
      if (entry.GetReflection()->GetString(entry, key) == rest)
        Scalar(entry, *entry.GetDescriptor()->map_value(), true);
    }
  }

  void Scalar(const Message& message, const FieldDescriptor& field, bool in_map) {
    const Reflection& reflection = *message.GetReflection();
    const bool is_set = in_map || reflection.HasField(message, &field);
    if (!is_set && field.has_presence()) return;
    const auto found = [&](auto value) { Found({.value = std::move(value), .is_set = is_set}); };
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32: return found(std::int64_t{reflection.GetInt32(message, &field)});
      case FieldDescriptor::CPPTYPE_INT64: return found(std::int64_t{reflection.GetInt64(message, &field)});
      case FieldDescriptor::CPPTYPE_UINT32:
        return found(std::uint64_t{reflection.GetUInt32(message, &field)});
      case FieldDescriptor::CPPTYPE_UINT64:
        return found(std::uint64_t{reflection.GetUInt64(message, &field)});
      case FieldDescriptor::CPPTYPE_DOUBLE: return found(reflection.GetDouble(message, &field));
      case FieldDescriptor::CPPTYPE_FLOAT: return found(double{reflection.GetFloat(message, &field)});
      case FieldDescriptor::CPPTYPE_BOOL: return found(reflection.GetBool(message, &field));
      case FieldDescriptor::CPPTYPE_ENUM: return found(reflection.GetEnum(message, &field));
      case FieldDescriptor::CPPTYPE_STRING: return found(reflection.GetString(message, &field));
      case FieldDescriptor::CPPTYPE_MESSAGE: return;
    }
  }

  const Path& path_;
  std::vector<FieldValue> found_;
};

bool FieldContains(const Message& message, const FieldDescriptor& field, const std::string& needle) {
  const Reflection& reflection = *message.GetReflection();
  const int count = field.is_repeated() ? reflection.FieldSize(message, &field) : 1;
  for (int i = 0; i < count; ++i) {
    bool contains = false;
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      contains = ContainsText(field.is_repeated() ? reflection.GetRepeatedMessage(message, &field, i)
                                                  : reflection.GetMessage(message, &field),
                              needle);
    } else if (field.type() == FieldDescriptor::TYPE_STRING) {
      contains = ContainsIgnoringCase(field.is_repeated() ? reflection.GetRepeatedString(message, &field, i)
                                                          : reflection.GetString(message, &field),
                                      needle);
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM && !field.is_repeated()) {
      contains = ContainsIgnoringCase(reflection.GetEnum(message, &field)->name(), needle);
    }
    if (contains) return true;
  }
  return false;
}

}  // namespace

std::vector<FieldValue> ValuesAt(const Message& message, const Path& path) {
  PathWalk walk(path);
  walk.Enter(message, 0);
  return walk.Take();
}

bool ContainsText(const Message& message, const std::string& needle) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  return std::ranges::any_of(fields,
                             [&](const auto* field) { return FieldContains(message, *field, needle); });
}

bool ContainsIgnoringCase(std::string_view text, std::string_view needle) noexcept {
  const auto same = [](char a, char b) { return ToLower(a) == ToLower(b); };
  return !std::ranges::search(text, needle, same).empty() || needle.empty();
}

}  // namespace trainyard::wire
