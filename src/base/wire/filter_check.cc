#include <google/protobuf/descriptor.h>
#include <google/protobuf/struct.pb.h>

#include <cstddef>
#include <string>
#include <utility>

#include "base/overloaded.h"
#include "base/wire/field_selector.h"
#include "base/wire/filter.h"
#include "base/wire/filter_operand.h"

namespace trainyard::wire {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

std::unexpected<Error> Refused(std::string message) {
  return std::unexpected(InvalidArgument("filter", std::move(message)));
}

std::string Join(const std::vector<std::string>& path) {
  std::string text;
  for (const auto& part : path) text += (text.empty() ? "" : ".") + part;
  return text;
}

bool IsAnyJson(const Descriptor& type) {
  return type.file() == google::protobuf::Struct::descriptor()->file();
}

/// The field to which the path leads; null if it leads into a Struct, where anything may be. For a map: the
/// map's field.
Result<const FieldDescriptor*> Resolve(const std::vector<std::string>& path, const Descriptor& root) {
  const Descriptor* type = &root;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const FieldDescriptor* field = FindField(*type, path[i]);
    if (field == nullptr) return Refused("Field not found: '" + Join(path) + "'");
    const bool last = i + 1 == path.size();
    if (last) return field;
    if (field->is_map()) return field->message_type()->map_value();
    if (field->message_type() == nullptr) return Refused("Field not found: '" + Join(path) + "'");
    if (IsAnyJson(*field->message_type())) return nullptr;
    type = field->message_type();
  }
  return nullptr;
}

bool IsOrder(Comparator comparator) {
  return comparator == Comparator::kLess || comparator == Comparator::kLessOrEqual ||
         comparator == Comparator::kGreater || comparator == Comparator::kGreaterOrEqual;
}

/// Whether the value can be read as the field's type. Text fields take any value.
bool Fits(const Comparison& comparison, const FieldDescriptor& field) {
  const bool pattern = comparison.pattern != nullptr;
  if (field.message_type() != nullptr) {
    const std::string& name = field.message_type()->full_name();
    if (name == "google.protobuf.Timestamp") return !pattern && ReadTime(comparison.value).has_value();
    if (name == "google.protobuf.Duration") return !pattern && ReadLength(comparison.value).has_value();
    return comparison.comparator == Comparator::kHas;
  }
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: return true;
    case FieldDescriptor::CPPTYPE_BOOL:
      return !pattern && !IsOrder(comparison.comparator) && ReadBool(comparison.value).has_value();
    case FieldDescriptor::CPPTYPE_ENUM:
      return pattern || FindEnumValue(*field.enum_type(), comparison.value) != nullptr;
    default: return !pattern && ReadNumber(comparison.value).has_value();
  }
}

Status CheckComparison(const Comparison& comparison, const Descriptor& type) {
  TY_TRY(const FieldDescriptor* field, Resolve(comparison.path, type));
  if (field == nullptr || AsksForPresence(comparison) || Fits(comparison, *field)) return {};
  return Refused("Invalid value for field '" + Join(comparison.path) + "': '" + comparison.value + "'");
}

Status CheckAll(const std::vector<Filter>& terms, const Descriptor& type) {
  for (const Filter& term : terms) TY_RETURN_IF_ERROR(CheckFilter(term, type));
  return {};
}

}  // namespace

Status CheckFilter(const Filter& filter, const Descriptor& type) {
  return std::visit(Overloaded{
                        [&](const And& all) { return CheckAll(all.terms, type); },
                        [&](const Or& any) { return CheckAll(any.terms, type); },
                        [&](const Not& inverse) { return CheckAll(inverse.term, type); },
                        [&](const Comparison& comparison) { return CheckComparison(comparison, type); },
                        [](const Search&) { return Status(); },
                    },
                    filter.node);
}

}  // namespace trainyard::wire
