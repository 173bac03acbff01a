#include "rules/iam/method_table.h"

#include <algorithm>
#include <array>
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

namespace {

/// Methods without their own permission.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kMethods{
    {{"google.iam.admin.", "iam.googleapis.com"},
     {"google.iam.v1.", "ml.googleapis.com"},  // on jobs
     {"google.longrunning.", "serviceusage.googleapis.com"},
     {"storage.", "storage.googleapis.com"},
     {"TestIamPermissions", "cloudresourcemanager.googleapis.com"}}};

}  // namespace

std::string ServiceName(std::string_view permission, std::string_view method_name) {
  const std::string_view prefix = permission.substr(0, permission.find('.'));
  if (prefix == "resourcemanager") return "cloudresourcemanager.googleapis.com";
  if (!prefix.empty() && prefix != kOwnService) return std::string(prefix) + ".googleapis.com";
  if (prefix.empty()) {
    for (const auto& [begin, service] : kMethods)
      if (method_name.starts_with(begin)) return std::string(service);
  }
  return std::string(kOwnService);
}

}  // namespace trainyard::iam
