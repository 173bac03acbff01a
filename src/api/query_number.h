#pragma once

#include <string>
#include <string_view>

#include "http/message.h"

namespace trainyard::api {

/// A whole number in the query; 0 if it is not there or empty. kInvalidArgument with its name in snake_case
/// as field, worded as the original's transcoder words it: not a number of 32 bits. Loop thread.
[[nodiscard]] Result<int> QueryNumber(const http::Request& request, std::string_view name,
                                      std::string_view field);

}  // namespace trainyard::api
