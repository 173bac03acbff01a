#pragma once

#include <span>
#include <string_view>

/// The table for roles.h. Pure.
namespace trainyard::iam {

/// A row of the table. In `includes`, a name such as "ml.jobs.*" means all permissions with this prefix, and
/// "*" means all; the permissions in `less`, written in the same way, are excluded.
struct RoleRow {
  std::string_view name;
  std::string_view title;
  std::string_view description;
  std::span<const std::string_view> includes;
  std::span<const std::string_view> less = {};
};

/// All roles, ordered by name.
[[nodiscard]] std::span<const RoleRow> RoleTable();

/// Every permission that this server checks, sorted.
[[nodiscard]] std::span<const std::string_view> PermissionTable();

}  // namespace trainyard::iam
