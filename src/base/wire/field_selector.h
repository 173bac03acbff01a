#pragma once

#include <google/protobuf/descriptor.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace google::protobuf {
class Descriptor;
}
namespace trainyard::wire {

struct JsonValue;

inline constexpr std::size_t kFieldsBytesMax = std::size_t{8} << 10;
inline constexpr std::size_t kFieldsDepthMax = 30;

/// The `fields` parameter of Google's APIs: which parts of a response a client wants. `a,b/c,d(e,f/*)`: names
/// joined by '/' or '.', a group in parentheses, '*' for any name. Overlapping selections are combined. Names
/// below a list apply to its elements. Values; any thread. Source: the public page "Partial responses" of
/// Google's APIs.
class FieldSelector {
 public:
  /// kInvalidArgument with field "fields": malformed, or beyond the limits above.
  [[nodiscard]] static Result<FieldSelector> Parse(std::string_view text);

  /// Checks that every name is a field of this type: kInvalidArgument otherwise, with the message of Google's
  /// service. Names in snake_case are converted to the JSON names. Keys of maps and of Structs may be
  /// anything.
  [[nodiscard]] Status Resolve(const google::protobuf::Descriptor& type);

  /// The selected part of a JSON document; selected names that do not exist are ignored. Text that is not
  /// JSON is returned unchanged. The result is indented like all responses.
  [[nodiscard]] std::string Apply(std::string_view json) const;

 private:
  friend class FieldSelectorParser;
  /// The selection below one name.
  struct Node {
    bool all = false;  ///< the whole value
    std::map<std::string, Node, std::less<>> children;
  };
  static Status ResolveNode(Node& node, const google::protobuf::Descriptor& type, const std::string& path);
  static void Select(JsonValue& value, const Node& node);

  Node root_;
};

/// The field with that proto or JSON name ("consumed_ml_units", "consumedMLUnits": the JSON name is not
/// always the camel case of the other). Null if there is none. Pure: any thread.
[[nodiscard]] inline const google::protobuf::FieldDescriptor* FindField(
    const google::protobuf::Descriptor& type, std::string_view name) {
  for (int i = 0; i < type.field_count(); ++i) {
    const google::protobuf::FieldDescriptor* field = type.field(i);
    if (field->json_name() == name || field->name() == name) return field;
  }
  return nullptr;
}

/// A FieldMask's text, "labels,etag": names of top-level fields in either case, separated by commas and
/// blanks; repeated names count once; an empty text is an empty mask. Pure: any thread.
///
/// @param allowed  the names that the method can update, in snake_case.
/// @return the names, in snake_case and in order. kInvalidArgument with field "update_mask" for any other
/// name, "*" included: "Only labels and etag can be updated, not 'x'".
[[nodiscard]] Result<std::vector<std::string>> ParseFieldMask(std::string_view text,
                                                              std::span<const std::string_view> allowed);

}  // namespace trainyard::wire
