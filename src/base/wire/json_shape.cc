#include "base/wire/json_shape.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/ascii.h"
#include "base/text/suggestion.h"
#include "base/wire/json_scalar.h"
#include "base/wire/json_tree.h"

namespace trainyard::wire {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using Kind = JsonValue::Kind;

constexpr std::int64_t kDurationSecondsMax = 315'576'000'000;  // 10,000 years: protobuf's own
constexpr double kTimestampSecondsMin = -62'135'596'800;       // year 1
constexpr double kTimestampSecondsMax = 253'402'300'799;       // year 9999
constexpr std::size_t kFractionDigitsMax = 9;

const FieldDescriptor* FindField(const Descriptor& type, const std::string& name) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (field->json_name() == name || field->name() == name) return field;
  }
  return nullptr;
}

/// Suggests a field in place of one that does not exist: a field of the same name in a message within this
/// one, or a field of this message with a similar name. The result is a sentence after a blank, or empty.
std::string FieldHint(const Descriptor& type, const std::string& name) {
  std::vector<std::string_view> names;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    names.push_back(field.json_name());
    if (field.message_type() == nullptr || field.is_repeated()) continue;
    if (const FieldDescriptor* inner = FindField(*field.message_type(), name))
      return " Did you mean '" + field.json_name() + "." + inner->json_name() + "'?";
  }
  const std::string hint = text::DidYouMean(name, names);
  return hint.empty() ? "" : " " + hint;
}

/// Makes "basic-gpu" BASIC_GPU. False: the value is none of that kind, or already spelled so.
bool SpellEnumValue(JsonValue& value, const FieldDescriptor& field) {
  const auto* type = field.enum_type();
  if (type == nullptr || value.kind != Kind::kString || type->FindValueByName(value.text) != nullptr)
    return false;
  std::string name = value.text;
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (type->FindValueByName(name) == nullptr) return false;
  value.text = std::move(name);
  return true;
}

/// Suggests the nearest value of the enum, or lists all values if there are few.
std::string ValueHint(const JsonValue& value, const FieldDescriptor& field) {
  constexpr int kListedMax = 12;
  if (field.enum_type() == nullptr) return {};
  const google::protobuf::EnumDescriptor& type = *field.enum_type();
  std::vector<std::string_view> names;
  for (int i = 0; i < type.value_count(); ++i)
    if (!type.value(i)->name().ends_with("_UNSPECIFIED")) names.push_back(type.value(i)->name());
  std::string hint = value.kind == Kind::kString ? text::DidYouMean(value.text, names) : std::string();
  if (hint.empty() && type.value_count() <= kListedMax) {
    for (std::string_view name : names) hint += (hint.empty() ? "Valid values: " : ", ") + std::string(name);
    hint += ".";
  }
  return hint.empty() ? "" : ". " + hint;
}

/// Compares a document with a message type and records what does not fit. Texts and their odd punctuation are
/// those of protobuf's converter, wrapped by Google's front end.
class ShapeWalk {
 public:
  explicit ShapeWalk(std::string_view root) : path_(root) {}

  void Message(JsonValue& value, const Descriptor& type) {
    std::vector<bool> seen(static_cast<std::size_t>(type.field_count()));
    for (JsonValue& member : value.children) {
      if (shape_.violations.size() >= kViolationsMax) return;
      const FieldDescriptor* field = FindField(type, member.name);
      if (field == nullptr) {
        const bool is_variable = IsVariable(&type);
        UnknownName(is_variable ? "***" : member.name,
                    "Cannot find field." + (is_variable ? "" : FieldHint(type, member.name)));
      } else if (seen[static_cast<std::size_t>(field->index())]) {
        UnknownName(member.name, "Field '" + field->name() + "' is already set.");
      } else {
        seen[static_cast<std::size_t>(field->index())] = true;
        if (member.kind != Kind::kNull || IsValueMessage(*field)) Field(member, *field);
      }
    }
  }

  void RootNotMessage() { UnknownName("", "Root element must be a message."); }

  [[nodiscard]] Shape Take() { return std::move(shape_); }

 private:
  static bool IsWellKnown(const FieldDescriptor& field, std::string_view name) {
    return field.message_type() != nullptr && field.message_type()->full_name() == name;
  }
  static bool IsVariable(const Descriptor* type) {
    return type != nullptr && type->full_name() == "trainyard.ml.v1.EnvVar";
  }
  /// Values that may be secret are not quoted: those in a job's variables, and a job that was sent as text.
  static std::string Echo(const JsonValue& value, const FieldDescriptor& field) {
    const bool is_variable = IsVariable(field.containing_type()) || IsVariable(field.message_type());
    const bool has_variables = field.message_type() != nullptr && MayHoldSecret(value.text);
    return is_variable || has_variables ? "\"***\"" : EchoScalar(value);
  }
  static bool IsValueMessage(const FieldDescriptor& field) {
    return IsWellKnown(field, "google.protobuf.Value");
  }

  void Field(JsonValue& value, const FieldDescriptor& field) {
    if (field.is_map()) {
      Map(value, field);
    } else if (value.kind != Kind::kArray) {
      // A single value for a repeated field is a list of one, as protobuf reads it.
      const Step step(*this, field.is_repeated() ? field.name() + "[0]" : field.name());
      Single(value, field, step.parent());
    } else if (field.is_repeated() || IsValueMessage(field) ||
               IsWellKnown(field, "google.protobuf.ListValue")) {
      if (field.is_repeated()) Elements(value, field);
    } else {
      UnknownName(value.name, "Proto field is not repeating, cannot start list.");
    }
  }

  void Elements(JsonValue& list, const FieldDescriptor& field) {
    for (std::size_t i = 0; i < list.children.size() && shape_.violations.size() < kViolationsMax; ++i) {
      JsonValue& element = list.children[i];
      if (element.kind == Kind::kNull) continue;
      const Step step(*this, field.name() + "[" + std::to_string(i) + "]");
      if (element.kind == Kind::kArray && !IsValueMessage(field)) {
        UnknownName("", "Proto field is not repeating, cannot start list.");
      } else {
        Single(element, field, step.parent());
      }
    }
  }

  void Map(JsonValue& value, const FieldDescriptor& field) {
    if (value.kind == Kind::kArray) {
      InvalidValue(path_, "Map", "Cannot bind a list to map for field '" + field.name() + "'.");
      return;
    }
    const Step map_step(*this, field.name());
    if (value.kind != Kind::kObject) {
      InvalidValue(path_, MessageUrl(*field.message_type()), Echo(value, field));
      return;
    }
    const FieldDescriptor& map_value = *field.message_type()->map_value();
    std::unordered_set<std::string_view> keys;
    for (std::size_t i = 0; i < value.children.size() && shape_.violations.size() < kViolationsMax; ++i) {
      JsonValue& member = value.children[i];
      const Step step(*this, "[" + std::to_string(i) + "]", "");
      if (!keys.insert(member.name).second) {
        UnknownName(member.name, "Repeated map key: '" + member.name + "' is already set.");
        continue;
      }
      if (member.kind == Kind::kNull && !IsValueMessage(map_value)) continue;
      if (member.kind == Kind::kArray) {
        UnknownName(member.name, "Proto field is not repeating, cannot start list.");
        continue;
      }
      const Step value_step(*this, "value");
      Single(member, map_value, value_step.parent());
    }
  }

  /// One value that is not a list; path_ already names it, `parent` is what it is in.
  void Single(JsonValue& value, const FieldDescriptor& field, std::string_view parent) {
    if (field.message_type() == nullptr) {
      if (value.kind == Kind::kNumber && field.type() == FieldDescriptor::TYPE_STRING) {
        value.kind = Kind::kString;
        shape_.changed = true;
      } else if (SpellEnumValue(value, field)) {
        shape_.changed = true;
      } else if (value.kind == Kind::kObject) {
        InvalidValue(parent, field.name(), "Starting an object on a scalar field");
      } else if (!FitsScalar(value, field)) {
        InvalidValue(path_, ScalarTypeName(field), Echo(value, field) + ValueHint(value, field));
      }
      return;
    }
    const Descriptor& type = *field.message_type();
    if (IsValueMessage(field)) return;
    if (IsWellKnown(field, "google.protobuf.Timestamp") || IsWellKnown(field, "google.protobuf.Duration")) {
      Time(value, type);
    } else if (value.kind != Kind::kObject) {
      InvalidValue(path_, MessageUrl(type), Echo(value, field));
    } else if (!IsWellKnown(field, "google.protobuf.Struct")) {
      Message(value, type);
    }
  }

  /// {"seconds": 1, "nanos": 0}: not a documented form, but Google's converter and protobuf's accept it, and
  /// clients of the studies API send it.
  void TimeParts(JsonValue& value, const Descriptor& type) {
    const std::size_t before = shape_.violations.size();
    Message(value, type);
    if (shape_.violations.size() != before) return;
    double seconds = 0;
    double nanos = 0;
    for (const JsonValue& part : value.children)
      (part.name == "seconds" ? seconds : nanos) = std::strtod(part.text.c_str(), nullptr);
    const bool is_duration = type.name() == "Duration";
    const bool in_range = is_duration ? std::abs(seconds) <= static_cast<double>(kDurationSecondsMax) &&
                                            std::abs(nanos) < 1e9 && seconds * nanos >= 0
                                      : seconds >= kTimestampSecondsMin && seconds <= kTimestampSecondsMax &&
                                            nanos >= 0 && nanos < 1e9;
    if (in_range) return;
    InvalidValue(
        path_, MessageUrl(type),
        "Field '" + value.name + "', " + (is_duration ? "Duration" : "Timestamp") + " value exceeds limits");
  }

  void Time(JsonValue& value, const Descriptor& type) {
    const bool is_duration = type.name() == "Duration";
    const std::string at = "Field '" + value.name + "', ";
    if (value.kind == Kind::kObject) return TimeParts(value, type);
    if (value.kind != Kind::kString) {
      InvalidValue(path_, MessageUrl(type),
                   at + "Invalid data type for " + (is_duration ? "duration" : "timestamp") + ", value is " +
                       EchoScalar(value));
    } else if (auto problem = is_duration ? DurationProblem(value.text) : TimestampProblem(value.text);
               !problem.empty()) {
      InvalidValue(path_, MessageUrl(type), at + problem);
    }
  }

  static std::string TimestampProblem(const std::string& text) {
    google::protobuf::Timestamp time;
    return google::protobuf::util::TimeUtil::FromString(text, &time) ? "" : "Invalid time format: " + text;
  }
  static std::string DurationProblem(const std::string& text) {
    google::protobuf::Duration duration;
    if (!text.ends_with('s')) return "Illegal duration format; duration must end with 's'";
    if (!google::protobuf::util::TimeUtil::FromString(text, &duration)) {
      return "Invalid duration format, failed to parse seconds";
    }
    const std::size_t digits = text.contains('.') ? text.size() - text.find('.') - 2 : 0;
    const bool too_long =
        duration.seconds() > kDurationSecondsMax || duration.seconds() < -kDurationSecondsMax;
    return too_long || digits > kFractionDigitsMax ? "Duration value exceeds limits" : "";
  }

  /// Adds a step to path_ for as long as it lives.
  class Step {
   public:
    Step(ShapeWalk& walk, const std::string& name, std::string_view separator = ".")
        : walk_(walk), length_(walk.path_.size()) {
      if (length_ > 0) walk.path_.append(separator);
      walk.path_.append(name);
    }
    ~Step() { walk_.path_.resize(length_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    [[nodiscard]] std::string_view parent() const { return std::string_view(walk_.path_).substr(0, length_); }

   private:
    ShapeWalk& walk_;
    std::size_t length_;
  };

  void UnknownName(const std::string& name, const std::string& reason) {
    std::string text = "Invalid JSON payload received. Unknown name \"" + name + "\"";
    if (!path_.empty()) text += " at '" + path_ + "'";
    shape_.violations.push_back({.field = path_, .description = text + ": " + reason});
  }

  void InvalidValue(std::string_view path, const std::string& type, const std::string& reason) {
    std::string text = "Invalid value";
    if (!path.empty()) text += " at '" + std::string(path) + "'";
    shape_.violations.push_back(
        {.field = std::string(path), .description = text + " (" + type + "), " + reason});
  }

  std::string path_;
  Shape shape_;
};

}  // namespace

bool MayHoldSecret(std::string_view text) noexcept {
  const auto has = [text](std::string_view word) {
    return !std::ranges::search(text, word, {}, [](char letter) { return ToLower(letter); }).empty();
  };
  // A letter of such a name may be written as its number.
  return has("env") || has("token") || has("secret") || has("password") || text.contains("\\u00");
}

Shape FitShape(JsonValue& value, const Descriptor& type, std::string_view root) {
  ShapeWalk walk(root);
  if (type.file() == google::protobuf::Struct::descriptor()->file())
    return {};  // any JSON; protobuf checks its kind
  if (value.kind == Kind::kObject) {
    walk.Message(value, type);
  } else {
    walk.RootNotMessage();
  }
  return walk.Take();
}

}  // namespace trainyard::wire
