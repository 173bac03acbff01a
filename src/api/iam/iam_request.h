#pragma once

#include <functional>
#include <string>

#include "api/messages.h"
#include "api/system_parameters.h"
#include "net/http/router.h"
#include "rules/iam/resource.h"
#include "stores/identity/identities.h"
#include "trainyard/iam/v1/policy.pb.h"

/// Common functions of the IAM handlers. Loop thread only.
namespace trainyard::api {

/// Whether the caller still has the right, for changes of identities.
[[nodiscard]] identity::StillMay StillMayOf(const http::Request& request);

/// The service account that the path names by e-mail or unique id; the project in it may be "-". kNotFound.
[[nodiscard]] Result<identity::v1::ServiceAccount> AccountOf(identity::Identities& identities,
                                                             const http::Request& request);

}  // namespace trainyard::api
