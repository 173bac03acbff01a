#pragma once

#include <span>
#include <string_view>

/// Roles and their permissions; the same as Google's if Google has the role. Pure: any thread. Source: spec
/// access.md section 9; our own permissions begin with "trainyard.".
namespace trainyard::iam {

/// A view of static tables: it is valid as long as the program runs.
struct Role {
  std::string_view name;   ///< "roles/ml.developer"
  std::string_view title;  ///< "AI Platform Developer"
  std::string_view description;
  std::span<const std::string_view> permissions;  ///< sorted

  [[nodiscard]] bool Has(std::string_view permission) const;
};

/// All roles, ordered by name.
[[nodiscard]] std::span<const Role> Roles();
/// Null: there is no such role.
[[nodiscard]] const Role* FindRole(std::string_view name);
/// All permissions that some role has or some method needs, sorted.
[[nodiscard]] std::span<const std::string_view> Permissions();

/// The role with the fewest permissions that has this one, or the first by name of several. Error messages
/// tell administrators to bind it. Never a role that the service grants itself (ml.jobOwner) or a legacy role
/// of buckets. Null: no role has it.
[[nodiscard]] const Role* NarrowestRole(std::string_view permission);

/// The role with all permissions; it can only be bound on the installation.
inline constexpr std::string_view kInstallationAdmin = "roles/trainyard.admin";
/// The role of a job's creator on the job.
inline constexpr std::string_view kJobOwner = "roles/ml.jobOwner";
/// The role of a project's default service account on its project, without a binding.
inline constexpr std::string_view kServiceAgent = "roles/ml.serviceAgent";

}  // namespace trainyard::iam
