#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stores/identity/directory.h"

/// What policies are without having been set, and what setting one changes. Pure: any thread. Source: spec
/// access.md sections 8 and 9.
namespace trainyard::identity {

/// The stored one, or what stands for it.
[[nodiscard]] iam::v1::Policy PolicyOf(const Directory& known, const iam::Resource& resource);

/// setIamPolicy. `etag`: the new one. kAborted, kInvalidArgument (iam::PolicyAfter, iam::CheckPolicy, a
/// service account that does not exist, iam::kInstallationAdmin elsewhere), kFailedPrecondition: the
/// installation's last administrator; kNotFound: a service account's, and there is no such account.
[[nodiscard]] Result<AccessChange> PolicySet(const Directory& known, const iam::Resource& resource,
                                             const iam::v1::SetIamPolicyRequest& request,
                                             std::string_view etag);

/// The policy with one more member. Nothing changes if it has it already: the change is empty.
[[nodiscard]] Result<AccessChange> BindingAdded(const Directory& known, const iam::Resource& resource,
                                                const std::string& role, const std::string& member,
                                                std::string_view etag);

/// Without the member, and without bindings that have no other; nothing: it has it nowhere.
[[nodiscard]] std::optional<iam::v1::Policy> WithoutMember(const iam::v1::Policy& policy,
                                                           std::string_view member);

/// kFailedPrecondition: without this account nobody would administrate the installation.
[[nodiscard]] Status CheckAdministratorWithout(const Directory& known, std::string_view email);

/// The installation's policy at the very beginning.
[[nodiscard]] AccessChange FirstAdministrator(std::string_view etag);

}  // namespace trainyard::identity
