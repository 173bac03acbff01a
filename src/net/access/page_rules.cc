#include "net/access/page_rules.h"

#include <utility>

#include "base/ascii.h"

namespace trainyard::access {

namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";

std::string_view WithoutPort(std::string_view authority, std::string_view port) {
  if (authority.ends_with(port)) authority.remove_suffix(port.size());
  return authority;
}

/// Whether the Origin field names the authority of the Host field. A browser leaves the scheme's own port out
/// of both.
bool IsOwnOrigin(std::string_view origin, std::string_view host) {
  for (const auto& [scheme, port] : {std::pair(kHttp, ":80"), std::pair(kHttps, ":443")}) {
    if (!origin.starts_with(scheme)) continue;
    const std::string_view authority = origin.substr(scheme.size());
    return !authority.empty() && EqualsIgnoringCase(WithoutPort(authority, port), WithoutPort(host, port));
  }
  return false;
}

}  // namespace

bool IsForeignPage(const PageFacts& facts) {
  if (facts.has_origin && !IsOwnOrigin(facts.origin, facts.host)) return true;
  return !facts.sec_fetch_site.empty() && facts.sec_fetch_site != "same-origin" &&
         facts.sec_fetch_site != "none";
}

bool IsPublicPath(std::string_view path) noexcept {
  return path == "/" || path == "/healthz" || path == "/$discovery/rest" || path == "/ui" ||
         path.starts_with("/ui/") || path.starts_with("/discovery/v1/apis");
}

Status CheckPage(const PageFacts& facts) {
  if (!IsForeignPage(facts) || (facts.is_read && IsPublicPath(facts.path))) return {};
  return std::unexpected(Error{Code::kPermissionDenied,
                               "A web page of another origin made this request, as its field Origin or "
                               "Sec-Fetch-Site says, and such pages may not use this server. Send it from a "
                               "program, without these fields",
                               ""});
}

}  // namespace trainyard::access
