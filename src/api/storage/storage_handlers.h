#pragma once

#include "api/route.h"
#include "stores/storage/buckets.h"

namespace trainyard::identity {
class Identities;
}  // namespace trainyard::identity

namespace trainyard::api {

/// Cloud Storage's JSON API, v1: buckets (insert, get, list, patch, update, delete, storageLayout) and
/// objects (insert by media, multipart and resumable upload; get, alt=media with ranges, list, patch, update,
/// delete, copyTo, rewriteTo, moveTo, compose), under /storage/v1, /upload/storage/v1,
/// /resumable/upload/storage/v1 and /download/storage/v1.
///
/// Errors have storage's own form, also those of unknown paths and methods (AddStorageRefusals); a full disk
/// is 507. `projection`, `userProject`, `predefinedAcl` and other parameters that change no result are
/// accepted and ignored. Source: discovery storage v1, docs/spec "Storage JSON v1". `identities`, which
/// stores the buckets' projects, outlives what is returned.
[[nodiscard]] http::Handler InStorageForm(const identity::Identities& identities, http::Handler function);

/// Refuses the methods of storage v1 that this server does not support, and all other methods and paths below
/// it.
void AddStorageRefusals(http::Router& router);

/// How TensorFlow reads `gs://`: `GET` and `HEAD /BUCKET/OBJECT` of Cloud Storage's XML API, the object's
/// name percent-encoded or not, with Range (206; 416 past the end), generation, x-goog-if-generation-match,
/// x-goog-if-metageneration-match, If-Match and If-None-Match. Errors are the XML API's documents.
///
/// Its pattern matches every path that no other route has, so it is only for the front under Google's storage
/// host name. Source: docs/spec "the recipe, tried".
Waits<storage::Buckets> GetXmlObject;

/// An error in the XML API's form. For kUnauthenticated and kPermissionDenied the message is the API's own,
/// and ours is in <Details>. Pure. Source: Cloud Storage's page "HTTP status and error codes for XML".
[[nodiscard]] http::Response XmlErrorAnswer(const Error& error);

}  // namespace trainyard::api
