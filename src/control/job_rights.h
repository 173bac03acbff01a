#pragma once

#include <string_view>

#include "iam/policy_index.h"
#include "trainyard/control/v1/record.pb.h"

/// What the job itself gives to a principal, beside what its project gives. Pure: any thread.
namespace trainyard::control {

struct JobStanding {
  bool is_granted = false;  ///< the permission
  bool is_seen = false;     ///< the principal has some role on the job
};

/// By the job's own policy; its creator owns it (roles/ml.jobOwner) whatever that says. Source: spec
/// access.md section 9.
[[nodiscard]] JobStanding StandingOn(const v1::JobRecord& job, std::string_view principal,
                                     std::string_view permission,
                                     const iam::PolicyIndex::HasBasicRole& has_basic_role);

}  // namespace trainyard::control
