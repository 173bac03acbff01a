#pragma once

#include <string>

#include "http/client.h"

namespace trainyard::http {

/// Whether the request can be sent as it is: kInvalidArgument names what cannot.
[[nodiscard]] Status CheckRequest(const ClientRequest& request);

/// The request's head as bytes, with Host and Content-Length.
[[nodiscard]] std::string PrintHead(const Endpoint& endpoint, const ClientRequest& request);

}  // namespace trainyard::http
