#pragma once

#include <string_view>

#include "stores/identity/directory.h"

/// What policies say. Pure: any thread; some look-ups a question.
namespace trainyard::identity {

/// Whether policies of the resource and what is above it give the permission; of a job: above it alone. A
/// project's own account (cluster::ServiceAccount) has iam::kServiceAgent there without a binding.
[[nodiscard]] bool Grants(const Directory& known, std::string_view principal, std::string_view permission,
                          const iam::Resource& resource);

/// Whether a basic role is bound to the principal on the project, or on the whole installation.
[[nodiscard]] bool HasBasicRole(const Directory& known, std::string_view principal, std::string_view role,
                                std::string_view project);

/// Whether they bind any role to the principal.
[[nodiscard]] bool Knows(const Directory& known, std::string_view principal, const iam::Resource& resource);

}  // namespace trainyard::identity
