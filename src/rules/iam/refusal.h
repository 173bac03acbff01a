#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "rules/iam/resource.h"

/// The errors for refused requests. Pure: any thread. Source: spec access.md section 9, "Bodies".
namespace trainyard::iam {

/// The error for a caller without `permission` on the resource. If `is_seen` (the caller has some role
/// there): kPermissionDenied with ErrorInfo IAM_PERMISSION_DENIED, which names the permission, the resource
/// and the command with which an administrator grants it. Otherwise Absent. Projects and the installation
/// count as seen: the request has named them.
[[nodiscard]] Error Refusal(std::string_view principal, std::string_view permission, const Resource& resource,
                            bool is_seen);

/// The command with which an administrator binds the role ("roles/storage.objectViewer") to the principal on
/// the resource; for a job on its project, since gcloud has no command for a job's policy.
[[nodiscard]] std::string BindingCommand(std::string_view principal, std::string_view role,
                                         const Resource& resource);

/// kNotFound: the error for a job, a bucket or a service account that does not exist, if `permission` is
/// needed. It is the same for a refusal, so that a refusal does not reveal whether the resource exists.
[[nodiscard]] Error Absent(std::string_view permission, const Resource& resource);

/// ErrorInfo.reason of kUnauthenticated. Source: google/api/error_reason.proto.
inline constexpr std::string_view kCredentialsMissing = "CREDENTIALS_MISSING";
inline constexpr std::string_view kTokenExpired = "ACCESS_TOKEN_EXPIRED";
inline constexpr std::string_view kAccountStateInvalid = "ACCOUNT_STATE_INVALID";  ///< disabled
inline constexpr std::string_view kTokenUnsupported = "ACCESS_TOKEN_TYPE_UNSUPPORTED";

/// kUnauthenticated, with an ErrorInfo of googleapis.com. The door adds "service" and "method" to its
/// metadata.
[[nodiscard]] Error Unauthenticated(std::string message, std::string_view reason = kTokenUnsupported);

/// kUnauthenticated: no credential was sent. For a permission of storage it has storage's message.
[[nodiscard]] Error NotLoggedIn(std::string_view permission = {});
/// kUnauthenticated: the credential is not valid. `why` is a sentence.
[[nodiscard]] Error BadToken(std::string_view why, std::string_view reason = kTokenUnsupported);
/// BadToken for an error that says why; the reason is from its ErrorInfo, if it has one.
[[nodiscard]] Error BadToken(const Error& why);

}  // namespace trainyard::iam
