#pragma once

#include <string_view>

#include "base/result.h"

/// What web pages may ask. Pure: any thread. Sources: RFC 6454 (Origin), W3C "Fetch Metadata Request
/// Headers".
namespace trainyard::access {

/// What a request says of the page that made it. Programs send none of it.
struct PageFacts {
  bool is_read = false;             ///< GET or HEAD, not an upgrade
  std::string_view path;            ///< raw
  std::string_view host;            ///< the Host field
  bool has_origin = false;          ///< there is an Origin field, be it empty
  std::string_view origin;          ///< "https://localhost:8470", "null"
  std::string_view sec_fetch_site;  ///< "same-origin", "same-site", "cross-site", "none"; empty: not sent
};

/// Whether the request is of a page of another origin. A page of the same site but another port is one too:
/// "localhost:3000" may be anybody's. The scheme does not count: something in front of the server may end
/// TLS.
[[nodiscard]] bool IsForeignPage(const PageFacts& facts);

/// What everybody may know: the descriptions of the APIs, that the server lives, and "/".
[[nodiscard]] bool IsPublicPath(std::string_view path) noexcept;

/// A foreign page reads what is public; all else is kPermissionDenied.
[[nodiscard]] Status CheckPage(const PageFacts& facts);

}  // namespace trainyard::access
