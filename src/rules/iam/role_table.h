#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The table for roles.h. Pure.
namespace trainyard::iam {

/// A row of the table. Both lists have "RESOURCE: VERB VERB ..." for each resource. "ml.jobs: *" means all
/// permissions with this prefix, and "*" means all; the permissions in `less` are excluded.
struct RoleRow {
  std::string_view name;
  std::string_view title;
  std::string_view description;
  std::string_view includes;
  std::string_view less = {};
};

/// All roles, ordered by name.
[[nodiscard]] std::span<const RoleRow> RoleTable();

/// The names in a list of the table: "ml.jobs.get", "ml.jobs.*".
[[nodiscard]] std::vector<std::string> ReadPermissions(std::string_view list);

/// Every permission that this server checks, sorted.
[[nodiscard]] std::span<const std::string_view> PermissionTable();

}  // namespace trainyard::iam
