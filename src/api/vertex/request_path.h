#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "net/http/message.h"

/// All paths of Vertex AI begin with /v1/projects/P/locations/L: this room reads that part. Loop thread.
namespace trainyard::api {

/// kNotFound unless the path's version is v1 or v1beta1, and its location a region.
[[nodiscard]] Status CheckPath(const http::Request& request);

/// "projects/P/locations/L", as the request names it.
[[nodiscard]] std::string LocationName(const http::Request& request);

/// A random one below kMlNumbers, with 19 digits, for a resource or an operation.
[[nodiscard]] std::int64_t NewNumber();

}  // namespace trainyard::api
