#pragma once

#include "api/route.h"
#include "api/storage/storage_handlers_request.h"

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

/// The storage API's methods, each a coroutine over one request. Loop thread.
namespace trainyard::api::storage_api {

/// @param project  the project that the bucket will belong to.
awaitable<Result<v1::Bucket>> MakeBucket(Buckets& buckets, Request& request, std::string project);
awaitable<Result<Response>> GetBucket(Buckets& buckets, Request& request);
awaitable<Result<v1::Buckets>> PageOfBuckets(Buckets& buckets, Request& request);
[[nodiscard]] Response BucketAnswer(const Request& request, v1::Bucket bucket);
[[nodiscard]] Response BucketsAnswer(const Request& request, v1::Buckets page);
awaitable<Result<Response>> DeleteBucket(Buckets& buckets, Request& request);
awaitable<Result<Response>> PatchBucket(Buckets& buckets, Request& request);
awaitable<Result<Response>> UpdateBucket(Buckets& buckets, Request& request);
/// An empty list, for resources that this server never has: folders and managed folders (resources of
/// hierarchical buckets; `gcloud storage rm -r` asks before it deletes a bucket), notification
/// configurations, caches, operations.
awaitable<Result<Response>> ListNothing(Buckets& buckets, Request& request);
awaitable<Result<Response>> GetStorageLayout(Buckets& buckets, Request& request);
/// Metadata, or with alt=media the contents.
awaitable<Result<Response>> GetObject(Buckets& buckets, Request& request);
/// The contents, or the part that a Range header asks for.
awaitable<Result<Response>> GetMedia(Buckets& buckets, Request& request);
/// The same for callers that name the object in another way. 304 and 416 are answers, not errors.
awaitable<Result<Response>> ReadMedia(Buckets& buckets, const Request& request, std::string bucket,
                                      std::string name, Conditions when);
awaitable<Result<Response>> ListObjects(Buckets& buckets, Request& request);
awaitable<Result<Response>> DeleteObject(Buckets& buckets, Request& request);
awaitable<Result<Response>> PatchObject(Buckets& buckets, Request& request);
awaitable<Result<Response>> UpdateObject(Buckets& buckets, Request& request);

awaitable<Result<Response>> CopyObject(Buckets& buckets, Request& request);
awaitable<Result<Response>> RewriteObject(Buckets& buckets, Request& request);
awaitable<Result<Response>> MoveObject(Buckets& buckets, Request& request);
awaitable<Result<Response>> ComposeObject(Buckets& buckets, Request& request);

/// POST under /upload: by `uploadType`.
awaitable<Result<Response>> InsertObject(Buckets& buckets, Request& request);
awaitable<Result<Response>> StartUpload(Buckets& buckets, Request& request);
/// PUT: bytes of a resumable upload, or a query of how many were received.
awaitable<Result<Response>> ContinueUpload(Buckets& buckets, Request& request);
awaitable<Result<Response>> CancelUpload(Buckets& buckets, Request& request);

using identity::Identities;

/// Buckets of projects, and their policies. Source: spec access.md section 8; discovery storage v1,
/// buckets.*. A new bucket belongs to the query's project; the list has that project's buckets if there is
/// authentication, otherwise all.
awaitable<Result<Response>> InsertOwnedBucket(Buckets& buckets, Identities& identities, Request& request);
awaitable<Result<Response>> DeleteOwnedBucket(Buckets& buckets, Identities& identities, Request& request);
awaitable<Result<Response>> ListOwnedBuckets(Buckets& buckets, Identities& identities, Request& request);

/// The policy of the bucket; an object has its bucket's.
awaitable<Result<Response>> GetBucketPolicy(Buckets& buckets, Identities& identities, Request& request);
awaitable<Result<Response>> SetBucketPolicy(Buckets& buckets, Identities& identities, Request& request);
/// Returns the requested permissions that the caller has; all of them if authentication is off.
awaitable<Result<Response>> TestBucketPermissions(Buckets& buckets, Identities& identities, Request& request);

}  // namespace trainyard::api::storage_api
