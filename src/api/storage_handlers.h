#pragma once

#include "http/router.h"
#include "storage/buckets.h"

namespace trainyard::api {

/// Cloud Storage's JSON API, v1: buckets (insert, get, list, patch, update, delete, storageLayout) and
/// objects (insert by media, multipart and resumable upload; get, alt=media with ranges, list, patch, update,
/// delete, copyTo, rewriteTo, moveTo, compose), under /storage/v1, /upload/storage/v1,
/// /resumable/upload/storage/v1 and /download/storage/v1.
///
/// `buckets` outlives the router. Errors have storage's own shape; a full disk is 507; paths and
/// methods that storage v1 does not have are answered too. `projection`, `userProject`, `predefinedAcl` and
/// other parameters that change no result are accepted and not looked at. Source: discovery storage v1,
/// docs/spec "Storage JSON v1".
void AddStorageRoutes(http::Router& router, storage::Buckets& buckets);

}  // namespace trainyard::api
