#pragma once

#include <boost/asio/awaitable.hpp>
#include <expected>
#include <memory>
#include <string_view>

#include "net/http/head.h"
#include "net/http/message.h"
#include "net/http/request_body.h"

/// Makes the Request that handlers see from a parsed head.
namespace trainyard::http {

/// 400: the query is malformed; 501: the method is unknown. `scheme` is the transport's.
[[nodiscard]] std::expected<Request, HeadError> MakeRequest(RequestHead head, std::string_view scheme);

/// The decompressing reader for the request's Content-Encoding; null if there is none; 415 for an unknown
/// coding. `raw` outlives it.
[[nodiscard]] std::expected<std::unique_ptr<BodyReader>, HeadError> DecodeBody(const Request& request,
                                                                               BodyReader& raw);

/// Applies `X-HTTP-Method-Override` in a POST: Google's clients send it for a GET whose URL would be too
/// long. The body is then the query (application/x-www-form-urlencoded).
asio::awaitable<Status> ApplyMethodOverride(Request& request);

}  // namespace trainyard::http
