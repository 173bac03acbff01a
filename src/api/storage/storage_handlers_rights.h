#pragma once

#include <string>

#include "api/storage/storage_handlers_request.h"

/// Rights that storage's handlers check in addition to the table of routes, if authentication is on. Loop
/// thread. Source: Cloud Storage's page "IAM permissions for JSON methods".
namespace trainyard::api::storage_api {

/// Success, or the refusal: iam::Refusal.
awaitable<Status> RequireOnBucket(const Request& request, std::string permission, std::string bucket);

/// Whether the caller may replace and delete objects of the bucket.
awaitable<bool> MayDelete(const Request& request, const std::string& bucket);

/// The conditions of a write to the bucket: a caller who may create objects there, but not delete any, may
/// not replace one, so the write requires that there is no such object. kNotFound: if callers have to log in,
/// a write does not create the bucket, because its project is not known.
awaitable<Result<Conditions>> ForWriter(Buckets& buckets, const Request& request, std::string bucket,
                                        Conditions when);

/// The same check again at the end of a write: its bytes may have taken hours. `may_replace`: it began with
/// the right to replace an object.
awaitable<Status> StillMayWrite(const Request& request, std::string bucket, bool may_replace);

/// The error of a write with the conditions of ForWriter: if these failed, and not the caller's own
/// conditions, it is the refusal because storage.objects.delete is missing.
awaitable<Error> WriteError(const Request& request, std::string bucket, Conditions asked, Error error);

}  // namespace trainyard::api::storage_api
