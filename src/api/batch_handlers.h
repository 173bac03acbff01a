#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/route.h"
#include "base/result.h"
#include "net/http/head.h"

namespace trainyard::api {

/// `POST /batch`, `/batch/ml/v1` and `/batch/storage/v1`: many calls in one request, each answered by its
/// usual handler, one after another. The error of one part is an answer like the others; a malformed or
/// truncated envelope is a 400, and none of its calls runs. Uploads, downloads and batches inside a batch are
/// refused, as Google's service does. Header fields of the envelope that do not describe its content apply to
/// each part.
///
/// `router` is the one that has the route; it must not move. Source: discovery's batchPath; Cloud Storage's
/// page "Batch requests".
Waits<const http::Router> RunBatch;

// The envelope of a batch: HTTP requests and answers as the parts of a multipart/mixed body. Pure: any
// thread. Source: Cloud Storage's page "Batch requests", RFC 2046 section 5.1.

/// One call of a batch.
struct BatchCall {
  std::string content_id;  ///< as received, "<item1>"; empty if the part has none
  http::RequestHead head;
  std::string body;  ///< up to the boundary: some clients send its length in characters, not bytes
};

inline constexpr std::size_t kBatchCallsMax = 1000;  ///< the most that client libraries put into one batch

/// The calls of a body, in order. Lines end in CRLF or LF, header fields may be folded, text before the first
/// and after the last boundary is skipped.
/// @param content_type  the request's.
/// @return kInvalidArgument: not multipart/mixed with a boundary; a part that is not an HTTP request; no
/// closing
///         boundary (the body was cut); no calls at all or more than kBatchCallsMax.
[[nodiscard]] Result<std::vector<BatchCall>> ParseBatch(std::string_view content_type, std::string_view body);

/// The Content-ID of the answer to a call: "<response-item1>" for "<item1>"; empty if the call has none.
[[nodiscard]] std::string ResponseContentId(std::string_view content_id);

}  // namespace trainyard::api
