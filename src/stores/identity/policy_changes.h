#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stores/identity/directory.h"

/// Policies that were never set, and the changes made by setting one. Pure: any thread. Source: spec
/// access.md sections 8 and 9.
namespace trainyard::identity {

/// The stored policy, or the default that applies without one.
[[nodiscard]] iam::v1::Policy PolicyOf(const Directory& known, const iam::Resource& resource);

/// setIamPolicy. `etag`: the new one. kAborted, kInvalidArgument (iam::PolicyAfter, iam::CheckPolicy, a
/// service account that does not exist, iam::kInstallationAdmin elsewhere), kFailedPrecondition: the
/// installation's last administrator; kNotFound: the policy is that of a service account that does not exist.
[[nodiscard]] Result<AccessChange> PolicySet(const Directory& known, const iam::Resource& resource,
                                             const iam::v1::SetIamPolicyRequest& request,
                                             std::string_view etag);

/// The policy with one more member. If it has the member already, the change is empty.
[[nodiscard]] Result<AccessChange> BindingAdded(const Directory& known, const iam::Resource& resource,
                                                const std::string& role, const std::string& member,
                                                std::string_view etag);

/// The policy without the member, and without bindings that have no other member; nothing: the policy does
/// not name it.
[[nodiscard]] std::optional<iam::v1::Policy> WithoutMember(const iam::v1::Policy& policy,
                                                           std::string_view member);

/// kFailedPrecondition: without this account nobody could administer the installation.
[[nodiscard]] Status CheckAdministratorWithout(const Directory& known, std::string_view email);

/// The installation's first policy.
[[nodiscard]] AccessChange FirstAdministrator(std::string_view etag);

}  // namespace trainyard::identity
