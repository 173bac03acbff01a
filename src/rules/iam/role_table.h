#pragma once

#include <span>
#include <string_view>

/// What roles.h makes its roles of. Pure.
namespace trainyard::iam {

/// A role as it is written down. In `includes` a name such as "ml.jobs.*" stands for all permissions that
/// begin so, and "*" for all; what `less` names in the same way is taken away again.
struct RoleRow {
  std::string_view name;
  std::string_view title;
  std::string_view description;
  std::span<const std::string_view> includes;
  std::span<const std::string_view> less = {};
};

/// By name.
[[nodiscard]] std::span<const RoleRow> RoleTable();

/// Every permission that this server asks for, sorted.
[[nodiscard]] std::span<const std::string_view> PermissionTable();

}  // namespace trainyard::iam
