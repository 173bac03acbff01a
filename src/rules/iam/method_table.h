#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// Each route of the server, and what it takes to be answered there: the one table. A route without a row
/// cannot be served (the door stops the server at its start, and a test names it). Pure: any thread.
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
};

/// By route.
[[nodiscard]] std::span<const MethodRule> MethodTable();
/// Null: there is no row.
[[nodiscard]] const MethodRule* FindMethod(std::string_view route);

}  // namespace trainyard::iam
