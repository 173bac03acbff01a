#pragma once

#include <string_view>

#include "base/result.h"

/// What web pages may ask. Pure: any thread. Sources: RFC 6454 (Origin), W3C "Fetch Metadata Request
/// Headers".
namespace trainyard::access {

/// What a request's header says about the page that made it. Programs send none of these fields.
struct PageFacts {
  bool is_read = false;             ///< GET or HEAD, not an upgrade
  std::string_view path;            ///< raw
  std::string_view host;            ///< the Host field
  bool has_origin = false;          ///< there is an Origin field, even an empty one
  std::string_view origin;          ///< "https://localhost:8470", "null"
  std::string_view sec_fetch_site;  ///< "same-origin", "same-site", "cross-site", "none"; empty: not sent
};

/// Whether a page of another origin made the request. The same site with another port is another origin: any
/// account may serve "localhost:3000". The scheme does not count: a proxy before the server may end TLS.
[[nodiscard]] bool IsForeignPage(const PageFacts& facts);

/// What everybody may read: the descriptions of the APIs, whether the server is up, the console's files, and
/// "/".
[[nodiscard]] bool IsPublicPath(std::string_view path) noexcept;

/// A page of another origin may read what is public; anything else is kPermissionDenied.
[[nodiscard]] Status CheckPage(const PageFacts& facts);

}  // namespace trainyard::access
