#pragma once

#include <string_view>

#include "base/result.h"

/// What a request must say of itself that a web page cannot say without the server's leave. Pure: any thread.
namespace trainyard::access {

/// What a request says of its body.
struct BodyFacts {
  std::string_view path;          ///< raw
  std::string_view content_type;  ///< the Content-Type field; empty: none
  bool has_body = false;          ///< a length above 0, or chunks
  bool overrides_get = false;     ///< a POST with X-HTTP-Method-Override: GET: the body is a form
  bool is_xml_storage = false;    ///< below the host name of storage: paths are objects of the XML API
};

/// Whether the body may be of any type: uploads, batches (multipart/mixed), grants of tokens (a form).
[[nodiscard]] bool TakesAnyBody(const BodyFacts& facts) noexcept;

/// A body of any other method is JSON and says so: text/plain is what a form of another site can send.
/// kInvalidArgument, naming Content-Type.
[[nodiscard]] Status CheckBodyType(const BodyFacts& facts);

/// Paths of the metadata server want `Metadata-Flavor: Google`, as Google's own does: no redirect and no page
/// adds it. kPermissionDenied.
[[nodiscard]] Status CheckMetadataFlavor(std::string_view path, std::string_view flavor);

}  // namespace trainyard::access
