#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// What it takes to be answered by a route. The routes are rows of src/api, which hold these values. Pure:
/// any thread.
namespace trainyard::iam {

/// What the permission is asked on; which path parameters name it.
enum class Scope : std::uint8_t {
  kInstallation,
  kProject,         ///< {project}
  kQueryProject,    ///< the query's project; none: the server's own
  kJob,             ///< {project}, {job}
  kBucket,          ///< {bucket}
  kServiceAccount,  ///< {project} ("-": that of the account), {account}
};

enum class Access : std::uint8_t {
  kPublic,         ///< nobody is asked who they are
  kAuthenticated,  ///< everybody who has logged in
  kPermission,     ///< who has `permission` on `scope`, before the handler runs
  kInHandler,      ///< logged in; the handler asks for what its body names, by access::Require
};

/// As Cloud Audit Logs tells methods apart.
enum class AuditKind : std::uint8_t { kNone, kAdminActivity, kDataRead, kDataWrite };

/// Views of static text: valid as long as the program runs.
struct MethodRule {
  std::string_view route;  ///< as http::Router names it: "POST /v1/projects/{project}/jobs"
  Access access = Access::kPermission;
  std::string_view permission;  ///< "ml.jobs.create"; also of kInHandler: the first that is asked for
  Scope scope = Scope::kInstallation;
  std::string_view method_name;  ///< in audit lines: "google.cloud.ml.v1.JobService.CreateJob"
  AuditKind audit = AuditKind::kNone;
  friend bool operator==(const MethodRule&, const MethodRule&) = default;
};

/// Answered to whoever may connect. The line above a row says why.
constexpr MethodRule Public(std::string_view route) { return {.route = route, .access = Access::kPublic}; }

constexpr MethodRule LoggedIn(std::string_view route, std::string_view method_name = {}) {
  return {.route = route, .access = Access::kAuthenticated, .method_name = method_name};
}

constexpr MethodRule InHandler(std::string_view route, std::string_view permission,
                               std::string_view method_name, AuditKind audit) {
  return {.route = route,
          .access = Access::kInHandler,
          .permission = permission,
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
  /// A CHECK: two different rules for one route.
  explicit MethodTable(std::vector<MethodRule> rules);

  [[nodiscard]] std::span<const MethodRule> rules() const noexcept { return rules_; }
  /// Null: there is no such route.
  [[nodiscard]] const MethodRule* Find(std::string_view route) const;

 private:
  std::vector<MethodRule> rules_;
};

}  // namespace trainyard::iam
