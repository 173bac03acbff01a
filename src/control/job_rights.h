#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "control/accounts.h"
#include "rules/iam/policy_index.h"
#include "trainyard/control/v1/record.pb.h"

/// What the job itself gives to principals, beside what its project gives: its policy. Who creates a job is
/// bound to roles/ml.jobOwner there, as long as nobody takes the binding out (docs/adr/0059). Any thread that
/// may ask `accounts`. Source: spec access.md section 9.
namespace trainyard::control {

/// As it is kept, with its creator if it was never set; whoever is a deleted account is shown as one.
[[nodiscard]] iam::v1::Policy PolicyOf(const v1::JobRecord& job, const Accounts& accounts);

/// What setIamPolicy makes of it. Errors as iam::PolicyAfter.
[[nodiscard]] Result<v1::Event::PolicySet> PolicySetOf(const v1::JobRecord& job,
                                                       const iam::v1::SetIamPolicyRequest& request,
                                                       const Accounts& accounts);

struct JobStanding {
  bool is_granted = false;  ///< the permission
  bool is_seen = false;     ///< the principal has some role on the job
};
struct Asker {
  std::string_view principal;
  /// It may see the project's jobs by a role on the project or above: a creator who may not has nothing.
  bool is_member = false;
  const iam::PolicyIndex::HasBasicRole& has_basic_role;
};
[[nodiscard]] JobStanding StandingOn(const v1::JobRecord& job, const Asker& asker,
                                     std::string_view permission, const Accounts& accounts);

}  // namespace trainyard::control
