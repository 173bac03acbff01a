#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "control/accounts.h"
#include "rules/iam/policy_index.h"
#include "trainyard/control/v1/record.pb.h"

/// Rights that a job's own policy gives to principals, in addition to its project's policy. The creator is
/// bound to roles/ml.jobOwner there, unless that binding was removed (docs/adr/0059). Any thread that may use
/// `accounts`. Source: spec access.md section 9.
namespace trainyard::control {

/// The stored policy, with the job's creator if it was never set; deleted accounts are marked as such.
[[nodiscard]] iam::v1::Policy PolicyOf(const v1::JobRecord& job, const Accounts& accounts);

/// The event that setIamPolicy records. Errors as iam::PolicyAfter.
[[nodiscard]] Result<v1::Event::PolicySet> PolicySetOf(const v1::JobRecord& job,
                                                       const iam::v1::SetIamPolicyRequest& request,
                                                       const Accounts& accounts);

struct JobStanding {
  bool is_granted = false;  ///< the job's policy gives the permission
  bool is_seen = false;     ///< the principal has some role on the job
};
struct Asker {
  std::string_view principal;
  /// It may see the project's jobs by a role on the project or above: without that, even the creator has no
  /// rights.
  bool is_member = false;
  const iam::PolicyIndex::HasBasicRole& has_basic_role;
};
[[nodiscard]] JobStanding StandingOn(const v1::JobRecord& job, const Asker& asker,
                                     std::string_view permission, const Accounts& accounts);

}  // namespace trainyard::control
