#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

/// Principals in the form of policies. Pure: any thread. Source: the public page "Policy", Binding.members.
namespace trainyard::iam {

/// "user:ann@example.com" or "serviceAccount:trainer@p.iam.gserviceaccount.com"; the e-mail is lower case.
/// kInvalidArgument with field "principal": another kind, or no e-mail of at most 254 letters, digits and
/// ._%+- (characters that need no quotes in a shell, because error messages contain commands with
/// principals).
[[nodiscard]] Result<std::string> ParsePrincipal(std::string_view text);

/// How the principals of service accounts begin.
inline constexpr std::string_view kServiceAccountPrefix = "serviceAccount:";

/// "ann@example.com". The argument is a principal, which it views.
[[nodiscard]] std::string_view EmailOf(std::string_view principal);

/// The service account's principal for its e-mail, converted to lower case; nothing is checked.
[[nodiscard]] std::string ServiceAccountPrincipal(std::string_view email);

/// "ACCOUNT_ID@PROJECT.iam.gserviceaccount.com". kInvalidArgument with field "account_id": not 6 to 30 lower
/// case letters, digits and dashes that begin with a letter, or "service-NUMBER", the form of the service's
/// own accounts; with field "project": other characters than lower case letters, digits, '-' and '_', so that
/// no two projects share an e-mail. Source: iam v1, serviceAccounts.create.
[[nodiscard]] Result<std::string> ServiceAccountEmail(std::string_view account_id, std::string_view project);

/// The owner of the installation; DATA/admin-token is its token.
inline constexpr std::string_view kAdministrator = "user:admin@trainyard.local";

}  // namespace trainyard::iam
