#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/message.h"

/// A browser's login: a token in a cookie that its scripts cannot read, and that no page of another site
/// makes it send. Pure: any thread. Source: RFC 6265bis; shared decisions, "Console".
namespace trainyard::access {

/// Requests with the cookie that change something must have the session's secret in this field. Cookies know
/// no ports: a browser also sends the cookie to other servers of the same host name, but only pages of this
/// origin know the secret. Also a page of another origin cannot send the field without a preflight request
/// (Fetch standard, "CORS-preflight").
inline constexpr std::string_view kConsoleField = "X-Trainyard-Console";

/// The token in the request's session cookie; empty: there is none. Cookies ignore ports, so the cookie's
/// name contains the port and servers on one machine do not share cookies. With https the name begins with
/// "__Host-": no page over http or of a subdomain can set it (RFC 6265bis section 4.1.3.2). kUnauthenticated:
/// there are two such cookies, so another server of the host name, or a path, has set one.
[[nodiscard]] Result<std::string> SessionToken(const http::Request& request);

/// Whether the cookie alone is enough for this request, because it only reads. An upgrade to another protocol
/// (a shell's WebSocket) is not a plain read.
[[nodiscard]] bool IsPlainRead(const http::Request& request);

/// A Set-Cookie field that sets the token with this lifetime.
[[nodiscard]] std::string PrintSessionCookie(const http::Request& request, std::string_view token,
                                             std::chrono::seconds life);
/// A Set-Cookie field that deletes the cookie.
[[nodiscard]] std::string PrintNoSessionCookie(const http::Request& request);

}  // namespace trainyard::access
