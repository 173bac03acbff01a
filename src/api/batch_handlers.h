#pragma once

#include "api/route.h"

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

}  // namespace trainyard::api
