#pragma once

#include "http/router.h"
#include "storage/buckets.h"

namespace trainyard::api {

/// What TensorFlow reads `gs://` by: `GET` and `HEAD /BUCKET/OBJECT` of Cloud Storage's XML API, the object's
/// name percent-encoded or not, with Range (206; 416 past the end), generation, x-goog-if-generation-match,
/// x-goog-if-metageneration-match, If-Match and If-None-Match. Errors are the XML API's documents.
///
/// The pattern takes every path that no other route has: only for the front under Google's own storage host
/// name, never for the public router. `buckets` outlives the router. Source: docs/spec "the recipe, tried".
void AddXmlStorageRoutes(http::Router& router, storage::Buckets& buckets);

}  // namespace trainyard::api
