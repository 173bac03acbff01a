#pragma once

#include "base/wire/resource_name.h"
#include "net/http/message.h"

namespace trainyard::api {

/// The job that a route with {project} and {job} names.
[[nodiscard]] inline wire::JobName JobNameOf(const http::Request& request) {
  return {request.Parameter("project"), request.Parameter("job")};
}

}  // namespace trainyard::api
