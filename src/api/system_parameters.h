#pragma once

#include <string_view>

#include "net/http/message.h"

namespace google::protobuf {
class Descriptor;
}

namespace trainyard::api {

// The words of every handler.
using boost::asio::awaitable;
using http::Request;
using http::Response;

/// The form of one method, in addition to the parameters that all methods of Google's APIs take.
struct MethodForm {
  /// The message from which `fields` selects; null for a stream of events, from which no parts can be
  /// selected.
  const google::protobuf::Descriptor* (*answer)() = nullptr;
  std::string_view parameters{};  ///< query parameters in camelCase, separated by blanks
  bool any_project = false;       ///< {project} may be "-": any project that has the resource
};

/// The method with the parameters that every method takes, all checked before it runs: `fields` (a part of
/// the answer), `prettyPrint`, `alt` (json, also with enum-encoding=int, or sse for a stream; proto and media
/// are refused), `$.xgafv` (1 or 2: the form of errors), `key`, `access_token`, `oauth_token`, `uploadType`,
/// `upload_protocol`, `quotaUser` (at most 40 characters) and those that only tracing tools use. `callback`
/// is refused: with it any web page could read answers. An unknown parameter is kInvalidArgument, in the
/// words of Google's transcoder. The method's own may be given in snake_case; the method gets them in
/// camelCase. A malformed project name is kInvalidArgument, too. Errors in another than the default form
/// become responses here. Loop thread. Source: spec api.md section 1; discovery documents, "parameters".
[[nodiscard]] http::Handler WithSystemParameters(MethodForm form, http::Handler method);

/// Whether a parameter of the request changes the method's answer afterwards: `fields`, `prettyPrint`.
[[nodiscard]] bool ShapesAnswer(const http::Request& request);

/// A whole number in the query; 0 if it is absent or empty. kInvalidArgument with its name in snake_case as
/// field, worded as Google's transcoder does: not a 32-bit number. Loop thread.
[[nodiscard]] Result<int> QueryNumber(const http::Request& request, std::string_view name,
                                      std::string_view field);

}  // namespace trainyard::api
