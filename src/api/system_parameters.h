#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace google::protobuf {
class Descriptor;
}

namespace trainyard::api {

/// What a method has of its own, beside the parameters that all methods of Google's APIs take.
struct MethodForm {
  /// What `fields` selects from; null for a stream of events, of which there are no parts.
  const google::protobuf::Descriptor* answer = nullptr;
  std::vector<std::string_view> parameters;  ///< of its query, in camelCase
};

/// The method with the parameters that every method takes, all checked before it runs:
/// `fields` (a part of the answer), `prettyPrint`, `alt` (json, or sse of a stream; proto and media are
/// refused), `$.xgafv` (1 or 2: which form errors have), `key`, `access_token`, `oauth_token`, `uploadType`,
/// `upload_protocol`, `quotaUser` (at most 40 characters) and those that only tracing tools use. `callback`
/// is refused: any web page could read answers with it. A parameter that neither all methods nor this one
/// have is kInvalidArgument in the words of the original's transcoder. The method's own may come in
/// snake_case; it sees them in camelCase. A project whose name is none is kInvalidArgument too. Errors in
/// another form than the usual one become responses here. Loop thread. Source: spec api.md section 1;
/// discovery documents, "parameters".
[[nodiscard]] http::Handler WithSystemParameters(MethodForm form, http::Handler method);

/// A whole number in the query; 0 if it is not there or empty. kInvalidArgument with its name in snake_case
/// as field, worded as the original's transcoder words it: not a number of 32 bits. Loop thread.
[[nodiscard]] Result<int> QueryNumber(const http::Request& request, std::string_view name,
                                      std::string_view field);

}  // namespace trainyard::api
