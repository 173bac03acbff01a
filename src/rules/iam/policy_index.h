#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/iam/roles.h"
#include "trainyard/iam/v1/policy.pb.h"

namespace trainyard::iam {

/// An index of a policy: a question costs one look-up, independent of the number of members. A value; pure.
///
/// allUsers and allAuthenticatedUsers mean every logged-in principal (there are no others). projectOwner:P,
/// projectEditor:P and projectViewer:P mean the principals with roles/owner, editor or viewer on P. A binding
/// grants nothing if it has a condition, because conditions are not evaluated here, or if its role is unknown
/// (deny by default). Members of other kinds (groups, domains, deleted ones) get nothing.
class PolicyIndex {
 public:
  PolicyIndex() = default;
  explicit PolicyIndex(const v1::Policy& policy);

  /// Whether the principal in question has a basic role on a project: "roles/owner", "P".
  using HasBasicRole = std::function<bool(std::string_view role, std::string_view project)>;

  [[nodiscard]] bool Grants(std::string_view principal, std::string_view permission,
                            const HasBasicRole& has_basic_role) const;
  /// Whether the principal has any role here at all.
  [[nodiscard]] bool Knows(std::string_view principal, const HasBasicRole& has_basic_role) const;
  /// Whether exactly this role is bound to the principal.
  [[nodiscard]] bool Binds(std::string_view principal, std::string_view role) const;

 private:
  void Add(std::string_view member, const Role* role);

  struct ByProject {
    std::string basic_role;
    std::string project;
    std::vector<const Role*> roles;
  };
  /// A principal has few roles, so a list of them is shorter than any set.
  std::map<std::string, std::vector<const Role*>, std::less<>> by_principal_;
  std::vector<const Role*> everybody_;
  std::vector<ByProject> by_project_;
};

/// Checks a policy for projects, buckets and service accounts in setIamPolicy, in addition to PolicyAfter, so
/// that no binding is stored that grants nothing. kInvalidArgument with the field "policy.bindings[N]" and
/// its faulty part: a role that does not exist (the message suggests the nearest one), a member that is not a
/// principal, a condition.
[[nodiscard]] Status CheckPolicy(const v1::Policy& policy);

}  // namespace trainyard::iam
