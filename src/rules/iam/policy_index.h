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

/// A policy made ready to be asked: a question costs a look-up, however many members its bindings have. A
/// value; pure.
///
/// allUsers and allAuthenticatedUsers mean everybody who has logged in (nobody else is let in).
/// projectOwner:P, projectEditor:P and projectViewer:P mean who has roles/owner, editor or viewer on P.
/// A binding with a condition grants nothing, since conditions are not evaluated here, and neither does one
/// of a role that is not known (deny by default). Nor do members of other kinds: groups, domains, deleted
/// ones.
class PolicyIndex {
 public:
  PolicyIndex() = default;
  explicit PolicyIndex(const v1::Policy& policy);

  /// Whether the principal that is asked about has a basic role on a project: "roles/owner", "P".
  using HasBasicRole = std::function<bool(std::string_view role, std::string_view project)>;

  [[nodiscard]] bool Grants(std::string_view principal, std::string_view permission,
                            const HasBasicRole& has_basic_role) const;
  /// Whether the principal has any role here at all.
  [[nodiscard]] bool Knows(std::string_view principal, const HasBasicRole& has_basic_role) const;
  /// Whether the very role is bound to the principal.
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

/// Checks what setIamPolicy stores on projects, buckets and service accounts beyond the form that PolicyAfter
/// checks, so that no binding is kept that would grant nothing. kInvalidArgument with the field
/// "policy.bindings[N]" and what of it: a role that does not exist (the nearest is named), a member that is
/// no principal, a condition.
[[nodiscard]] Status CheckPolicy(const v1::Policy& policy);

}  // namespace trainyard::iam
