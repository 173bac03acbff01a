#pragma once

#include <span>
#include <string_view>

/// Who may do what, written by hand from the sources (spec access.md section 9; the original's pages), not
/// from the tables of src/rules/iam: those are proved against it. Tests of the whole server ask the same
/// list.
namespace trainyard::iam::testing {

/// On what a route is decided.
enum class Where {
  kNobodyAsked,
  kLoggedIn,
  kInstallation,
  kProject,
  kJob,
  kBucket,
  kServiceAccount,
  kInHandler
};

/// Lists of words, separated by blanks or line ends.
struct ExpectedAccess {
  Where where;
  std::string_view roles;   ///< who may, without "roles/"; roles/trainyard.admin may everything
  std::string_view routes;  ///< one a line
};
[[nodiscard]] std::span<const ExpectedAccess> ExpectedRoutes();

struct ExpectedRole {
  std::string_view role;         ///< without "roles/"
  std::string_view permissions;  ///< all that it has in kFamilies
};
/// The roles that spec access.md names. There "ml.jobs.*" is written out.
[[nodiscard]] std::span<const ExpectedRole> ExpectedRoles();
/// The families of permissions of which that page says all.
inline constexpr std::string_view kFamilies[] = {
    "ml.jobs.", "ml.locations.", "ml.operations.",      "ml.projects.",
    "storage.", "logging.",      "iam.serviceAccounts."};

}  // namespace trainyard::iam::testing
