#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The access rule of each route. The rows in src/api contain these values. Pure: any thread.
namespace trainyard::iam {

/// The resource whose permission is checked, and the path parameters that name it.
enum class Scope : std::uint8_t {
  kInstallation,
  kProject,         ///< {project}
  kQueryProject,    ///< the query's project; default: the server's own
  kJob,             ///< {project}, {job}
  kBucket,          ///< {bucket}
  kServiceAccount,  ///< {project} ("-": the account's project), {account}
};

enum class Access : std::uint8_t {
  kPublic,         ///< no login needed
  kAuthenticated,  ///< any logged-in caller
  kPermission,     ///< callers with `permission` on `scope`; checked before the handler runs
  kInHandler,  ///< any logged-in caller; the handler checks the resources in the body with access::Require
};

/// The categories of methods in Cloud Audit Logs.
enum class AuditKind : std::uint8_t { kNone, kAdminActivity, kDataRead, kDataWrite };

/// Views of static text: valid as long as the program runs.
struct MethodRule {
  std::string_view route;  ///< as in http::Router: "POST /v1/projects/{project}/jobs"
  Access access = Access::kPermission;
  std::string_view permission;  ///< "ml.jobs.create"; for kInHandler: the first one that is checked
  Scope scope = Scope::kInstallation;
  std::string_view method_name;  ///< in audit lines: "google.cloud.ml.v1.JobService.CreateJob"
  AuditKind audit = AuditKind::kNone;
  friend bool operator==(const MethodRule&, const MethodRule&) = default;
};

/// Available to everyone who can connect. The line above a row says why.
constexpr MethodRule Public(std::string_view route) { return {.route = route, .access = Access::kPublic}; }

constexpr MethodRule LoggedIn(std::string_view route, std::string_view method_name = {}) {
  return {.route = route, .access = Access::kAuthenticated, .method_name = method_name};
}

/// `scope`: what audit entries name.
constexpr MethodRule InHandler(std::string_view route, std::string_view permission,
                               std::string_view method_name, AuditKind audit,
                               Scope scope = Scope::kInstallation) {
  return {.route = route,
          .access = Access::kInHandler,
          .permission = permission,
          .scope = scope,
          .method_name = method_name,
          .audit = audit};
}

constexpr MethodRule Ask(Scope scope, std::string_view route, std::string_view permission,
                         std::string_view method_name, AuditKind audit) {
  return {.route = route,
          .access = Access::kPermission,
          .permission = permission,
          .scope = scope,
          .method_name = method_name,
          .audit = audit};
}

/// The rules of all routes, by route.
class MethodTable {
 public:
  /// A CHECK fails if there are two different rules for one route.
  explicit MethodTable(std::vector<MethodRule> rules);

  [[nodiscard]] std::span<const MethodRule> rules() const noexcept { return rules_; }
  /// Null: there is no such route.
  [[nodiscard]] const MethodRule* Find(std::string_view route) const;

 private:
  std::vector<MethodRule> rules_;
};

/// The service of our own methods.
inline constexpr std::string_view kOwnService = "trainyard";

/// The Google service of a method, for audit entries and error messages: "ml.googleapis.com"; kOwnService for
/// our own methods. It is derived from the permission, whose first part is the service's, or else from the
/// method's name. Pure. Source: the public page "Services that produce audit logs".
[[nodiscard]] std::string ServiceName(std::string_view permission, std::string_view method_name);

}  // namespace trainyard::iam
