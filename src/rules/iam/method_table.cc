#include "rules/iam/method_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace trainyard::iam {

MethodTable::MethodTable(std::vector<MethodRule> rules) : rules_(std::move(rules)) {
  std::ranges::sort(rules_, {}, &MethodRule::route);
  const auto equal = std::ranges::unique(rules_);
  rules_.erase(equal.begin(), equal.end());
  TY_CHECK(std::ranges::adjacent_find(rules_, {}, &MethodRule::route) == rules_.end());
}

const MethodRule* MethodTable::Find(std::string_view route) const {
  const auto found = std::ranges::lower_bound(rules_, route, {}, &MethodRule::route);
  return found != rules_.end() && found->route == route ? &*found : nullptr;
}

}  // namespace trainyard::iam
