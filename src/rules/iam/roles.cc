#include "rules/iam/roles.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "rules/iam/role_table.h"

namespace trainyard::iam {
namespace {

bool Matches(std::string_view permission, std::string_view pattern) {
  if (!pattern.ends_with('*')) return permission == pattern;
  return permission.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool MatchesAny(std::string_view permission, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(patterns, [&](std::string_view p) { return Matches(permission, p); });
}

std::vector<std::string_view> PermissionsOf(const RoleRow& row) {
  const std::vector<std::string> includes = ReadPermissions(row.includes);
  const std::vector<std::string> less = ReadPermissions(row.less);
  std::vector<std::string_view> permissions;
  for (const std::string_view permission : PermissionTable()) {
    if (MatchesAny(permission, includes) && !MatchesAny(permission, less)) permissions.push_back(permission);
  }
  return permissions;
}

struct Expanded {
  std::vector<std::vector<std::string_view>> permissions;  ///< storage of the roles' spans
  std::vector<Role> roles;
};

Expanded Expand() {
  Expanded expanded;
  expanded.permissions.reserve(RoleTable().size());
  for (const RoleRow& row : RoleTable()) {
    expanded.permissions.push_back(PermissionsOf(row));
    expanded.roles.push_back({.name = row.name,
                              .title = row.title,
                              .description = row.description,
                              .permissions = expanded.permissions.back()});
  }
  return expanded;
}

// Roles that error messages never suggest: the service binds them on one job or operation, they are for the
// accounts of jobs, or for old clients of buckets.
constexpr std::array<std::string_view, 4> kOfTheService{"roles/aiplatform.customCodeServiceAgent",
                                                        "roles/ml.jobOwner", "roles/ml.operationOwner",
                                                        "roles/ml.serviceAgent"};
constexpr std::string_view kLegacy = "roles/storage.legacy";

bool IsAdvised(const Role& role) {
  return !role.name.starts_with(kLegacy) &&
         std::ranges::find(kOfTheService, role.name) == kOfTheService.end();
}

}  // namespace

bool Role::Has(std::string_view permission) const {
  return std::ranges::binary_search(permissions, permission);
}

std::span<const Role> Roles() {
  static const Expanded kExpanded = Expand();
  return kExpanded.roles;
}

const Role* FindRole(std::string_view name) {
  const std::span<const Role> roles = Roles();
  const auto found = std::ranges::lower_bound(roles, name, {}, &Role::name);
  return found != roles.end() && found->name == name ? &*found : nullptr;
}

std::span<const std::string_view> Permissions() { return PermissionTable(); }

const Role* NarrowestRole(std::string_view permission) {
  const Role* narrowest = nullptr;
  for (const Role& role : Roles()) {
    if (!IsAdvised(role) || !role.Has(permission)) continue;
    if (narrowest == nullptr || role.permissions.size() < narrowest->permissions.size()) narrowest = &role;
  }
  return narrowest;
}

}  // namespace trainyard::iam
