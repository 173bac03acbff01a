#include "net/access/session_cookie.h"

#include <algorithm>
#include <optional>

#include "net/http/text.h"
#include "rules/iam/refusal.h"

namespace trainyard::access {

namespace {

/// "trainyard-session-8470"; without a port in the Host field "trainyard-session".
std::string NameFor(const http::Request& request) {
  std::string name = request.scheme == "https" ? "__Host-trainyard-session" : "trainyard-session";
  const std::size_t colon = request.host.rfind(':');
  if (colon == std::string::npos || request.host.find(']', colon) != std::string::npos) return name;
  const std::string_view port = std::string_view(request.host).substr(colon + 1);
  if (http::ParseDecimal(port)) name.append("-").append(port);
  return name;
}

std::string Print(const http::Request& request, std::string_view value, std::string_view attributes) {
  std::string cookie = NameFor(request);
  cookie.append("=").append(value).append("; Path=/; HttpOnly; SameSite=Strict").append(attributes);
  if (request.scheme == "https") cookie.append("; Secure");
  return cookie;
}

}  // namespace

Result<std::string> SessionToken(const http::Request& request) {
  const std::string name = NameFor(request);
  std::optional<std::string> token;
  std::string_view rest = request.headers.Get("Cookie");
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    const std::string_view pair = http::Trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (pair.size() <= name.size() || !pair.starts_with(name) || pair[name.size()] != '=') continue;
    if (token)
      return std::unexpected(iam::BadToken("The request has two cookies " + name +
                                           ". Remove this host's cookies in the browser and log in again."));
    token = pair.substr(name.size() + 1);
  }
  return token.value_or("");
}

bool IsPlainRead(const http::Request& request) {
  const bool is_read = request.method == http::Method::kGet || request.method == http::Method::kHead;
  return is_read && !request.headers.Has("Upgrade");
}

std::string PrintSessionCookie(const http::Request& request, std::string_view token,
                               std::chrono::seconds life) {
  return Print(request, token, "; Max-Age=" + std::to_string(life.count()));
}

std::string PrintNoSessionCookie(const http::Request& request) { return Print(request, "", "; Max-Age=0"); }

}  // namespace trainyard::access
