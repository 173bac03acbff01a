#pragma once

#include <string_view>

#include "base/result.h"

/// Header fields that a request must have and that a web page cannot send without the server's consent. Pure:
/// any thread.
namespace trainyard::access {

/// What a request's header says about its body.
struct BodyFacts {
  std::string_view path;          ///< raw
  std::string_view content_type;  ///< the Content-Type field; empty: none
  bool has_body = false;          ///< a length above 0, or chunks
  bool overrides_get = false;     ///< a POST with X-HTTP-Method-Override: GET: the body is a form
  bool is_xml_storage = false;    ///< below the host name of storage: paths are objects of the XML API
};

/// Whether the body may be of any type: uploads, batches (multipart/mixed), grants of tokens (a form).
[[nodiscard]] bool TakesAnyBody(const BodyFacts& facts) noexcept;

/// A body of any other method must be declared as JSON, or as YAML where a job is only looked at: a form of
/// another site can send text/plain, and neither of these.
/// kInvalidArgument, naming Content-Type.
[[nodiscard]] Status CheckBodyType(const BodyFacts& facts);

/// Paths of the metadata server need `Metadata-Flavor: Google`, as with Google's own: neither a redirect nor
/// a page can add it. kPermissionDenied.
[[nodiscard]] Status CheckMetadataFlavor(std::string_view path, std::string_view flavor);

}  // namespace trainyard::access
