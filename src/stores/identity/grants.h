#pragma once

#include <string_view>

#include "stores/identity/directory.h"

/// What policies grant. Pure: any thread; a few look-ups per question.
namespace trainyard::identity {

/// Whether policies of the resource and of its parents give the permission; for a job, only those of its
/// parents. A project's service agent (cluster::ServiceAccount) has iam::kServiceAgent there without a
/// binding.
[[nodiscard]] bool Grants(const Directory& known, std::string_view principal, std::string_view permission,
                          const iam::Resource& resource);

/// Whether a basic role is bound to the principal on the project, or on the whole installation.
[[nodiscard]] bool HasBasicRole(const Directory& known, std::string_view principal, std::string_view role,
                                std::string_view project);

/// Whether policies of the resource or its parents bind any role to the principal.
[[nodiscard]] bool Knows(const Directory& known, std::string_view principal, const iam::Resource& resource);

}  // namespace trainyard::identity
