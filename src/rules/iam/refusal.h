#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "rules/iam/resource.h"

/// The words of a refusal. Pure: any thread. Source: spec access.md section 9, "Bodies".
namespace trainyard::iam {

/// What a caller without `permission` on the resource gets. For one that `is_seen` (the caller has some role
/// there): kPermissionDenied with ErrorInfo IAM_PERMISSION_DENIED, which names the permission, the resource
/// and the command with which an administrator gives it. Else Absent. Projects and the installation are
/// always named: who asks for one has named it.
[[nodiscard]] Error Refusal(std::string_view principal, std::string_view permission, const Resource& resource,
                            bool is_seen);

/// kNotFound: what everybody gets for a job, a bucket or a service account that does not exist when
/// `permission` is needed, so that a refusal does not tell whether it does.
[[nodiscard]] Error Absent(std::string_view permission, const Resource& resource);

/// ErrorInfo.reason of kUnauthenticated. Source: google/api/error_reason.proto.
inline constexpr std::string_view kCredentialsMissing = "CREDENTIALS_MISSING";
inline constexpr std::string_view kTokenExpired = "ACCESS_TOKEN_EXPIRED";
inline constexpr std::string_view kAccountStateInvalid = "ACCOUNT_STATE_INVALID";  ///< disabled
inline constexpr std::string_view kTokenUnsupported = "ACCESS_TOKEN_TYPE_UNSUPPORTED";

/// kUnauthenticated, with an ErrorInfo of googleapis.com. The door adds "service" and "method" to its
/// metadata.
[[nodiscard]] Error Unauthenticated(std::string message, std::string_view reason = kTokenUnsupported);

/// Unauthenticated: no credential was shown. With a permission of storage it says so as storage does.
[[nodiscard]] Error NotLoggedIn(std::string_view permission = {});
/// Unauthenticated: one was shown that is not valid. `why` is a sentence.
[[nodiscard]] Error BadToken(std::string_view why, std::string_view reason = kTokenUnsupported);
/// The same, of an error that says why; its ErrorInfo has the reason, if there is one.
[[nodiscard]] Error BadToken(const Error& why);

}  // namespace trainyard::iam
