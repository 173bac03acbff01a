#pragma once

#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/wire/filter.h"

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace trainyard::vertex {

/// The filter of a list method: `display_name="x" AND state="JOB_STATE_RUNNING"`, `labels.k=v`, `labels.k:*`,
/// `create_time>"2026-11-28T00:00:00Z"`, `!=`, AND, OR, NOT, parentheses; names in snake_case or camelCase.
/// The language is that of wire::ParseFilter. A value; any thread. Source: spec vertex.md section 2.
class ResourceFilter {
 public:
  /// Empty text matches everything.
  ///
  /// @param type  the listed messages' type, such as CustomJob's
  /// @return kInvalidArgument with field "filter": malformed, or a name or value that the type does not have.
  [[nodiscard]] static Result<ResourceFilter> Parse(std::string_view text,
                                                    const google::protobuf::Descriptor& type);

  /// Whether a message of that type satisfies the filter.
  [[nodiscard]] bool Matches(const google::protobuf::Message& message) const;

 private:
  explicit ResourceFilter(wire::Filter filter) : filter_(std::move(filter)) {}

  wire::Filter filter_;
};

}  // namespace trainyard::vertex
