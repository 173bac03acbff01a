#pragma once

#include "http/message.h"

namespace trainyard::api {

/// A refusal of the door in the shape that the path's API has: storage v1's own, else google.rpc.Status. Pure.
[[nodiscard]] http::Response RefusalAnswer(const http::Request& request, const Error& error);

}  // namespace trainyard::api
