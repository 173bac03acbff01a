#pragma once

#include "api/storage/storage_handlers_request.h"

namespace trainyard::identity {
class Identities;
}  // namespace trainyard::identity

/// Buckets as the projects' that they belong to, and their policies. Loop thread. Source: spec access.md
/// section 8; discovery storage v1, buckets.*.
namespace trainyard::api::storage_api {

using identity::Identities;

/// As InsertBucket, DeleteBucket and ListBuckets of storage_handlers_routes.h. A new bucket is the query's
/// project's; the list has those of the query's project where somebody was asked who they are, else all.
awaitable<Result<Response>> InsertOwnedBucket(Buckets& buckets, Identities& identities, Request& request);
awaitable<Result<Response>> DeleteOwnedBucket(Buckets& buckets, Identities& identities, Request& request);
awaitable<Result<Response>> ListOwnedBuckets(Buckets& buckets, Identities& identities, Request& request);

/// Of the bucket; an object has its bucket's.
awaitable<Result<Response>> GetBucketPolicy(Buckets& buckets, Identities& identities, Request& request);
awaitable<Result<Response>> SetBucketPolicy(Buckets& buckets, Identities& identities, Request& request);
/// Those of the query's permissions that who asks has; all where nobody was asked.
awaitable<Result<Response>> TestBucketPermissions(Buckets& buckets, Identities& identities, Request& request);

}  // namespace trainyard::api::storage_api
