#pragma once

#include <string_view>

#include "base/error.h"
#include "net/http/message.h"

namespace trainyard::api {

/// A refusal by the access check in the form of the route's API: storage v1's own, the XML API's, otherwise
/// google.rpc.Status. @param route  as http::Router names it: "GET /storage/v1/b/{bucket}". Pure.
[[nodiscard]] http::Response RefusalAnswer(std::string_view route, const Error& error);

}  // namespace trainyard::api
