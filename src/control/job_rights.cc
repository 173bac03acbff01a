#include "control/job_rights.h"

namespace trainyard::control {

JobStanding StandingOn(const v1::JobRecord& job, std::string_view principal, std::string_view permission,
                       const iam::PolicyIndex::HasBasicRole& has_basic_role) {
  const iam::PolicyIndex policy(job.iam_policy());
  JobStanding standing{.is_granted = policy.Grants(principal, permission, has_basic_role),
                       .is_seen = policy.Knows(principal, has_basic_role)};
  if (job.creator().empty() || job.creator() != principal) return standing;
  const iam::Role* owner = iam::FindRole(iam::kJobOwner);
  standing.is_granted = standing.is_granted || owner->Has(permission);
  standing.is_seen = true;
  return standing;
}

}  // namespace trainyard::control
