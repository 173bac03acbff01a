#pragma once

#include <string>
#include <string_view>

#include "api/route.h"

namespace trainyard::api {

/// The discovery documents from which generic clients build themselves:
/// - GET /$discovery/rest?version=v1: ml v1; for a host such as storage.localhost, the API of that name
/// - GET /discovery/v1/apis/{api}/{version}/rest
/// - GET /discovery/v1/apis[?name=ml]: the directory
///
/// Each document names the address of the request as the API's own, so that clients that use it come back
/// here. Errors: kNotFound. Source: docs/spec "Pointing the clients".
Answers<> DiscoverByHost, ListApis, DiscoverByPath;

/// The document with `https://SERVICE.googleapis.com` at the start of any string replaced by `origin`; scopes
/// (https://www.googleapis.com/auth/...) stay. Pure: any thread.
[[nodiscard]] std::string RewriteAddresses(std::string_view document, std::string_view origin);

}  // namespace trainyard::api
