#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainyard/iam/v1/policy.pb.h"

/// The form of policies of all resources: what may be written, etags, versions. policy_index.h evaluates
/// policies. Pure: any thread. Source: discovery document ml:v1, schemas GoogleIamV1__*; the public page
/// "Policies", section on versions.
namespace trainyard::iam {

/// The policy of a resource for which none was set: empty, with the etag that Google gives such policies
/// ("ACAB"), so that clients can read, change and write it like any other.
[[nodiscard]] v1::Policy NoPolicy();

/// The policy after setIamPolicy, without a new etag. `update_mask` names bindings, etag, version or
/// audit_configs; if empty it is "bindings, etag". Only the named fields change; the version is 3 with
/// conditions and 1 without. kAborted: the mask has the etag, the request has one and it is not the stored
/// one. kInvalidArgument: a version other than 0, 1, 3; conditions with another version than 3, stored ones
/// included unless no etag is given; a binding without role or members; a member of an unknown kind; more
/// than kPrincipalsMax members.
[[nodiscard]] Result<v1::Policy> PolicyAfter(const v1::Policy& stored,
                                             const v1::SetIamPolicyRequest& request);
inline constexpr int kPrincipalsMax = 1'500;

/// The policy as getIamPolicy returns it for the requested version (0 means 1). Below 3 a conditional binding
/// is shown without its condition, its role with "_withcond_" and a hash. kInvalidArgument: a version other
/// than 0, 1, 3.
[[nodiscard]] Result<v1::Policy> PolicyAtVersion(v1::Policy policy, std::int64_t version);

/// Checks the permissions in a testIamPermissions request. kInvalidArgument with the field "permissions": a
/// permission that is malformed or has a wildcard. An unknown permission is not an error.
[[nodiscard]] Status CheckPermissionNames(const v1::TestIamPermissionsRequest& request);

}  // namespace trainyard::iam
