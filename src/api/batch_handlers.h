#pragma once

#include "http/router.h"

namespace trainyard::api {

/// `POST /batch`, `/batch/ml/v1` and `/batch/storage/v1`: many calls in one request, each answered by the
/// handler that it would have on its own, one after another. A part that fails is an answer among the others;
/// a malformed or cut envelope is a 400 and nothing is carried out. Uploads, downloads and batches inside a
/// batch are refused, as by the original. Header fields of the envelope that are not about its content hold
/// for each part.
///
/// `router` outlives its own handlers' calls and stays where it is. Source: discovery's batchPath; Cloud
/// Storage's page "Batch requests".
void AddBatchRoutes(http::Router& router);

}  // namespace trainyard::api
