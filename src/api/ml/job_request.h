#pragma once

#include <string>
#include <utility>

#include "base/wire/resource_name.h"
#include "control/intake/creator.h"
#include "net/access/caller.h"
#include "net/http/message.h"

/// Common functions of requests for jobs. Loop thread.
namespace trainyard::api {

/// The job that a route with {project} and {job} names.
[[nodiscard]] inline wire::JobName JobNameOf(const http::Request& request) {
  return {request.Parameter("project"), request.Parameter("job")};
}

/// The caller, as a job's creator with its rights.
[[nodiscard]] inline control::Creator CreatorOf(const http::Request& request) {
  if (request.caller == nullptr) return {};
  auto require = [caller = request.caller](std::string permission, iam::Resource resource) {
    return caller->Require(std::move(permission), std::move(resource));
  };
  return {.principal = request.caller->principal(),
          .require = std::move(require),
          .still_may = [caller = request.caller] { return caller->StillMay(); }};
}

}  // namespace trainyard::api
