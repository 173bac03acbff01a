#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/message.h"

/// A browser's login: a token in a cookie that its scripts cannot read, and that no page of another site
/// makes it send. Pure: any thread. Source: RFC 6265bis; shared decisions, "Console".
namespace trainyard::access {

/// Requests by cookie that change something have the session's secret in this field. Cookies know no ports:
/// a server of the same host name that the user opens is sent the cookie, but never told the secret, which
/// pages of this origin keep. Also no page of another origin can send the field without being asked first
/// whether it may (Fetch standard, "CORS-preflight").
inline constexpr std::string_view kConsoleField = "X-Trainyard-Console";

/// The token in the request's session cookie; empty: there is none. Cookies do not know ports, so the name
/// has the port: servers on one machine keep apart. Where pages are asked for by https it begins with
/// "__Host-": no page by http, and none of a subdomain, can set it (RFC 6265bis section 4.1.3.2).
/// kUnauthenticated: there are two, so another server of the host name, or a path, has set one.
[[nodiscard]] Result<std::string> SessionToken(const http::Request& request);

/// Whether the cookie is enough for this request: it reads. One that asks for another protocol (a shell's
/// WebSocket) does more than that.
[[nodiscard]] bool IsPlainRead(const http::Request& request);

/// A Set-Cookie field that lets the token be sent back for so long.
[[nodiscard]] std::string PrintSessionCookie(const http::Request& request, std::string_view token,
                                             std::chrono::seconds life);
/// A Set-Cookie field that takes it away.
[[nodiscard]] std::string PrintNoSessionCookie(const http::Request& request);

}  // namespace trainyard::access
