#include "base/wire/json_scalar.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/number.h"
#include "base/wire/json_tree.h"

namespace trainyard::wire {
namespace {

using google::protobuf::FieldDescriptor;
using Kind = JsonValue::Kind;

constexpr std::size_t kEchoBytesMax = 200;

/// A number such as 1e3 or 5.0 is an integer too; a string must be plain digits.
template <std::integral T>
std::optional<T> ReadInteger(const JsonValue& value) {
  if (value.kind != Kind::kNumber && value.kind != Kind::kString) return std::nullopt;
  if (auto integer = WholeNumber<T>(value.text)) return integer;
  if (value.kind == Kind::kString) return std::nullopt;
  const auto number = WholeNumber<double>(value.text);
  constexpr auto kMin = static_cast<double>(std::numeric_limits<T>::min());
  constexpr T kHalfOfEnd = std::numeric_limits<T>::max() / 2 + 1;
  constexpr auto kEnd = 2.0 * static_cast<double>(kHalfOfEnd);
  if (!number || std::trunc(*number) != *number || *number < kMin || *number >= kEnd) return std::nullopt;
  return static_cast<T>(*number);
}

bool FitsDouble(const JsonValue& value, double max) {
  if (value.kind == Kind::kString &&
      (value.text == "NaN" || value.text == "Infinity" || value.text == "-Infinity")) {
    return true;
  }
  if (value.kind != Kind::kNumber && value.kind != Kind::kString) return false;
  const auto number = WholeNumber<double>(value.text);
  return number && std::isfinite(*number) && std::abs(*number) <= max;
}

bool FitsBytes(const JsonValue& value) {
  if (value.kind != Kind::kString) return false;
  std::string_view digits = value.text;
  for (int pad = 0; pad < 2 && digits.ends_with('='); ++pad) digits.remove_suffix(1);
  const auto is_digit = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/' || c == '-' || c == '_';
  };
  return digits.size() % 4 != 1 && std::ranges::all_of(digits, is_digit);
}

bool FitsEnum(const JsonValue& value, const google::protobuf::EnumDescriptor& type) {
  if (value.kind == Kind::kString && type.FindValueByName(value.text) != nullptr) return true;
  const auto number = ReadInteger<std::int32_t>(value);
  return number && type.FindValueByNumber(*number) != nullptr;
}

/// Converts names of our packages and enums to those in Google's messages.
std::string OriginalName(std::string name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kNames{{
      {"trainyard.ml.v1.HyperparameterSpec.Goal", "google.cloud.ml.v1.HyperparameterSpec.GoalType"},
      {"trainyard.ml.v1.ParameterSpec.Type", "google.cloud.ml.v1.ParameterSpec.ParameterType"},
      {"trainyard.ml.v1.AcceleratorConfig.Type", "google.cloud.ml.v1.AcceleratorType"},
      {"trainyard.ml.v1.", "google.cloud.ml.v1."},
      {"trainyard.logging.v2.LogEntry.Severity", "google.logging.type.LogSeverity"},
      {"trainyard.logging.v2.MonitoredResource", "google.api.MonitoredResource"},
      {"trainyard.logging.v2.", "google.logging.v2."},
      {"trainyard.storage.v1.", "google.storage.v1."},
  }};
  for (const auto& [ours, theirs] : kNames) {
    if (name.starts_with(ours)) return name.replace(0, ours.size(), theirs);
  }
  return name;
}

std::string Url(const std::string& full_name) { return "type.googleapis.com/" + OriginalName(full_name); }

}  // namespace

bool FitsScalar(const JsonValue& value, const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: return ReadInteger<std::int32_t>(value).has_value();
    case FieldDescriptor::CPPTYPE_INT64: return ReadInteger<std::int64_t>(value).has_value();
    case FieldDescriptor::CPPTYPE_UINT32: return ReadInteger<std::uint32_t>(value).has_value();
    case FieldDescriptor::CPPTYPE_UINT64: return ReadInteger<std::uint64_t>(value).has_value();
    case FieldDescriptor::CPPTYPE_DOUBLE: return FitsDouble(value, std::numeric_limits<double>::max());
    case FieldDescriptor::CPPTYPE_FLOAT: return FitsDouble(value, std::numeric_limits<float>::max());
    case FieldDescriptor::CPPTYPE_BOOL:
      return value.kind == Kind::kBool ||
             (value.kind == Kind::kString && (value.text == "true" || value.text == "false"));
    case FieldDescriptor::CPPTYPE_ENUM: return FitsEnum(value, *field.enum_type());
    case FieldDescriptor::CPPTYPE_STRING:
      return field.type() == FieldDescriptor::TYPE_BYTES ? FitsBytes(value) : value.kind == Kind::kString;
    case FieldDescriptor::CPPTYPE_MESSAGE: return false;
  }
  return false;
}

std::string EchoScalar(const JsonValue& value) {
  switch (value.kind) {
    case Kind::kString: return '"' + value.text.substr(0, kEchoBytesMax) + '"';
    case Kind::kNumber:
    case Kind::kBool: return value.text.substr(0, kEchoBytesMax);
    case Kind::kNull: return "null";
    case Kind::kArray: return "[]";
    case Kind::kObject: return "{}";
  }
  return {};
}

std::string ScalarTypeName(const FieldDescriptor& field) {
  if (field.enum_type() != nullptr) return Url(field.enum_type()->full_name());
  std::string name = field.type_name();
  std::ranges::transform(name, name.begin(),
                         [](char c) { return static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c); });
  return "TYPE_" + name;
}

std::string MessageUrl(const google::protobuf::Descriptor& type) { return Url(type.full_name()); }

}  // namespace trainyard::wire
