#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/message.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/overloaded.h"
#include "base/wire/field_selector.h"
#include "base/wire/filter.h"
#include "base/wire/filter_operand.h"
#include "base/wire/time.h"

namespace trainyard::wire {

namespace {

/// A message or map that a path leads to; text below it can be searched.
struct NestedValue {
  const google::protobuf::Message* message =
      nullptr;  ///< not owned: lives as long as the message of the query
};

/// The value in a message to which a filter's path leads.
struct FieldValue {
  std::variant<std::string, double, std::int64_t, std::uint64_t, bool, SysTime, std::chrono::nanoseconds,
               const google::protobuf::EnumValueDescriptor*, NestedValue>
      value;
  bool is_set = true;  ///< false for a scalar field at its default
};

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

/// Whether `text` contains `needle`, comparing ASCII letters without case.
bool ContainsIgnoringCase(std::string_view text, std::string_view needle) noexcept {
  const auto same = [](char a, char b) { return ToLower(a) == ToLower(b); };
  return !std::ranges::search(text, needle, same).empty() || needle.empty();
}

bool ContainsText(const Message& message, const std::string& needle);

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

/// All values at the path: none if a part of the path does not exist, several through lists. Pure: any
/// thread.
std::vector<FieldValue> ValuesAt(const Message& message, const Path& path) {
  PathWalk walk(path);
  walk.Enter(message, 0);
  return walk.Take();
}

/// Whether any text at or below the message (map keys, enum names and Structs included) contains `needle`,
/// without case.
bool ContainsText(const Message& message, const std::string& needle) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  return std::ranges::any_of(fields,
                             [&](const auto* field) { return FieldContains(message, *field, needle); });
}

/// `value OP operand` for ordered values; `:` is equality.
template <class T>
bool Compare(Comparator comparator, const T& value, const T& operand) {
  switch (comparator) {
    case Comparator::kEqual:
    case Comparator::kHas:
    case Comparator::kNotEqual: return value == operand;  // != is the inverse of =, over all values
    case Comparator::kLess: return value < operand;
    case Comparator::kLessOrEqual: return value <= operand;
    case Comparator::kGreater: return value > operand;
    case Comparator::kGreaterOrEqual: return value >= operand;
    case Comparator::kMatches:
    case Comparator::kNotMatches: return false;
  }
  return false;
}

template <class T>
bool CompareIf(Comparator comparator, const T& value, const std::optional<T>& operand) {
  return operand && Compare(comparator, value, *operand);
}

bool CompareText(const Comparison& comparison, const std::string& value) {
  const bool glob = !comparison.quoted && comparison.value.contains('*');
  switch (comparison.comparator) {
    case Comparator::kHas:
      return glob ? MatchesGlob(value, comparison.value) : ContainsIgnoringCase(value, comparison.value);
    case Comparator::kEqual:
    case Comparator::kNotEqual:
      if (glob) return MatchesGlob(value, comparison.value);
      return comparison.any_case ? EqualsIgnoringCase(value, comparison.value) : value == comparison.value;
    case Comparator::kMatches:
    case Comparator::kNotMatches: return re2::RE2::PartialMatch(value, *comparison.pattern);
    case Comparator::kLess:
    case Comparator::kLessOrEqual:
    case Comparator::kGreater:
    case Comparator::kGreaterOrEqual: return Compare(comparison.comparator, value, comparison.value);
  }
  return false;
}

bool CompareEnum(const Comparison& comparison, const google::protobuf::EnumValueDescriptor& value) {
  if (comparison.pattern != nullptr) return CompareText(comparison, value.name());
  const auto* operand = FindEnumValue(*value.type(), comparison.value);
  return operand != nullptr && Compare(comparison.comparator, value.number(), operand->number());
}

/// Whether one value satisfies the comparison; != and !~ are treated as = and =~, and inverted by the caller.
bool Holds(const Comparison& comparison, const FieldValue& found) {
  const Comparator comparator = comparison.comparator;
  const auto number = [&](auto value) {
    return CompareIf(comparator, static_cast<long double>(value), ReadNumber(comparison.value));
  };
  return std::visit(
      Overloaded{
          [&](const std::string& text) { return CompareText(comparison, text); },
          [&](double value) { return number(value); },
          [&](std::int64_t value) { return number(value); },
          [&](std::uint64_t value) { return number(value); },
          [&](bool value) { return CompareIf(comparator, value, ReadBool(comparison.value)); },
          [&](SysTime time) { return CompareIf(comparator, time, ReadTime(comparison.value)); },
          [&](std::chrono::nanoseconds length) {
            return CompareIf(comparator, length, ReadLength(comparison.value));
          },
          [&](const google::protobuf::EnumValueDescriptor* value) { return CompareEnum(comparison, *value); },
          [&](const NestedValue& nested) {
            return comparator == Comparator::kHas && ContainsText(*nested.message, comparison.value);
          },
      },
      found.value);
}

bool MatchesComparison(const Comparison& comparison, const google::protobuf::Message& message) {
  const auto values = ValuesAt(message, comparison.path);
  if (AsksForPresence(comparison)) return std::ranges::any_of(values, &FieldValue::is_set);
  const bool any = std::ranges::any_of(values, [&](const auto& value) { return Holds(comparison, value); });
  const bool inverse =
      comparison.comparator == Comparator::kNotEqual || comparison.comparator == Comparator::kNotMatches;
  return inverse ? !values.empty() && !any : any;
}

}  // namespace

bool Matches(const Filter& filter, const google::protobuf::Message& message) {
  const auto matches = [&](const Filter& term) { return Matches(term, message); };
  return std::visit(Overloaded{
                        [&](const And& all) { return std::ranges::all_of(all.terms, matches); },
                        [&](const Or& any) { return std::ranges::any_of(any.terms, matches); },
                        [&](const Not& inverse) { return !matches(inverse.term.front()); },
                        [&](const Comparison& comparison) { return MatchesComparison(comparison, message); },
                        [&](const Search& search) { return ContainsText(message, search.text); },
                    },
                    filter.node);
}

}  // namespace trainyard::wire
