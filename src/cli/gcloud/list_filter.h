#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/gcloud/json_value.h"

namespace trainyard::cli {

/// The expression of `jobs list --filter`, applied by the client as gcloud does: KEY=V, KEY!=V, KEY:V
/// (contains), KEY~REGEX, KEY!~REGEX, KEY<V, <=, >, >=, KEY:(A B) for any of several, AND, OR, NOT, -,
/// parentheses; adjacent terms must all hold. Text is compared without regard to case. Pure: any thread;
/// immutable.
class ListFilter {
 public:
  /// kInvalidArgument: "... at [REST]". Nested parentheses are bounded.
  [[nodiscard]] static Result<ListFilter> Parse(std::string_view text);
  [[nodiscard]] bool Matches(const Json& resource) const;

  struct Node;

 private:
  explicit ListFilter(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  std::shared_ptr<const Node> root_;  ///< shared: filters are values, the tree never changes
};

/// Sorts by the fields in order; "~FIELD" is descending. Numbers by value.
void SortBy(std::vector<Json>& resources, const std::vector<std::string>& fields);

}  // namespace trainyard::cli
