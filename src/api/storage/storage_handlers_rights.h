#pragma once

#include <string>

#include "api/storage/storage_handlers_request.h"

/// What storage's handlers ask for beyond the door's table, where authentication is on. Loop thread. Source:
/// Cloud Storage's page "IAM permissions for JSON methods".
namespace trainyard::api::storage_api {

/// Success, or the refusal: iam::Refusal.
awaitable<Status> RequireOnBucket(const Request& request, std::string permission, std::string bucket);

/// Whether who asks may replace and delete objects of the bucket.
awaitable<bool> MayDelete(const Request& request, const std::string& bucket);

/// The conditions of a write to the bucket: who may create objects there and not delete any may replace none,
/// so the write holds only where there is no such object. kNotFound: where who asks has to log in, a write
/// makes no bucket, since nobody has said for which project.
awaitable<Result<Conditions>> ForWriter(Buckets& buckets, const Request& request, std::string bucket,
                                        Conditions when);

/// The same asked again at the end of a write: its bytes may have taken hours. `may_replace`: it began with
/// the right to replace an object.
awaitable<Status> StillMayWrite(const Request& request, std::string bucket, bool may_replace);

/// The error of a write with the conditions of ForWriter: where they are what failed, and not the caller's
/// own, it is the refusal for want of storage.objects.delete.
awaitable<Error> WriteError(const Request& request, std::string bucket, Conditions asked, Error error);

}  // namespace trainyard::api::storage_api
