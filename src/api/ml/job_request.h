#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/wire/resource_name.h"
#include "control/intake/creator.h"
#include "net/access/caller.h"
#include "net/http/headers.h"
#include "net/http/message.h"

namespace trainyard::control {
struct JobListQuery;
}  // namespace trainyard::control

/// Common functions of requests for jobs. Loop thread.
namespace trainyard::api {

/// The job that a route with {project} and {job} names.
[[nodiscard]] inline wire::JobName JobNameOf(const http::Request& request) {
  return {request.Parameter("project"), request.Parameter("job")};
}

/// The jobs that the query of a list selects. kInvalidArgument: pageSize is no number.
[[nodiscard]] Result<control::JobListQuery> ListQueryOf(const http::Request& request);

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

// Answers that a browser saves as files. Pure: any thread.

/// A file name made from any text: letters, digits, '.', '-' and '_' stay, all other characters become '_'.
/// Never empty, never begins with a dot, at most kFileNameBytesMax long.
[[nodiscard]] std::string SafeFileName(std::string_view text);
inline constexpr std::size_t kFileNameBytesMax = 200;

/// Sets Content-Type, Content-Disposition with SafeFileName(name), and headers that make contents harmless
/// that may come from anybody (http::ConfineContent). Source: RFC 6266.
void SetAttachment(std::string_view content_type, std::string_view name, http::Headers& headers);

}  // namespace trainyard::api
