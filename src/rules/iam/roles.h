#pragma once

#include <span>
#include <string_view>

/// Roles and their permissions, as the original's where it had them. Pure: any thread. Source: spec access.md
/// section 9; the permissions of our own begin with "trainyard.".
namespace trainyard::iam {

/// A view of static tables: it is valid as long as the program runs.
struct Role {
  std::string_view name;   ///< "roles/ml.developer"
  std::string_view title;  ///< "AI Platform Developer"
  std::string_view description;
  std::span<const std::string_view> permissions;  ///< sorted

  [[nodiscard]] bool Has(std::string_view permission) const;
};

/// All, by name.
[[nodiscard]] std::span<const Role> Roles();
/// Null: there is no such role.
[[nodiscard]] const Role* FindRole(std::string_view name);
/// All permissions that some role has or some method asks for, sorted.
[[nodiscard]] std::span<const std::string_view> Permissions();

/// The role with the fewest permissions that has this one, the first by name of several: what an
/// administrator is told to bind. Never a role that the service gives itself (ml.jobOwner) or an old one of
/// buckets. Null: no role has it.
[[nodiscard]] const Role* NarrowestRole(std::string_view permission);

/// The role that owns everything of the installation; bound nowhere but there.
inline constexpr std::string_view kInstallationAdmin = "roles/trainyard.admin";
/// What the creator of a job has on it.
inline constexpr std::string_view kJobOwner = "roles/ml.jobOwner";
/// What a project's default service account has on its project, without a binding.
inline constexpr std::string_view kServiceAgent = "roles/ml.serviceAgent";

}  // namespace trainyard::iam
