#pragma once

#include <span>
#include <string_view>

/// The expected access rules, written by hand from the sources (spec access.md section 9; Google's pages),
/// not from the tables of src/rules/iam, which are tested against this list. Tests of the whole server use
/// the same list.
namespace trainyard::iam::testing {

/// The resource on which access to a route is decided.
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
  std::string_view
      roles;  ///< the roles with access, without "roles/"; roles/trainyard.admin always has access
  std::string_view routes;  ///< one per line
};
[[nodiscard]] std::span<const ExpectedAccess> ExpectedRoutes();

struct ExpectedRole {
  std::string_view role;         ///< without "roles/"
  std::string_view permissions;  ///< all its permissions in kFamilies
};
/// The roles that spec access.md names. "ml.jobs.*" is written out here.
[[nodiscard]] std::span<const ExpectedRole> ExpectedRoles();
/// The families of permissions that the page lists completely.
inline constexpr std::string_view kFamilies[] = {
    "ml.jobs.", "ml.locations.", "ml.operations.",      "ml.projects.",
    "storage.", "logging.",      "iam.serviceAccounts."};

}  // namespace trainyard::iam::testing
