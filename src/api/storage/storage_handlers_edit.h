#pragma once

#include <string_view>

#include "base/result.h"
#include "stores/storage/resource.h"

namespace trainyard::api::storage_api {

/// objects.patch: the fields of the body are replaced, null removes, `metadata` is merged key by key.
/// kInvalidArgument: malformed, unknown names, or a field that this server would have to ignore. Pure: any
/// thread. Source: discovery.
[[nodiscard]] Result<storage::ObjectEdit> ReadPatch(std::string_view json);

/// objects.update: all fields that a client may set are replaced by the body's.
[[nodiscard]] Result<storage::ObjectEdit> ReadUpdate(std::string_view json);

/// buckets.patch: an RFC 7396 merge patch, so null removes. stores/storage/resource.h says which fields it
/// may set. kInvalidArgument: malformed or unknown names; or, from the edit itself, the result is not a valid
/// bucket. Pure: any thread.
[[nodiscard]] Result<storage::BucketEdit> ReadBucketPatch(std::string_view json);

/// buckets.update: fields missing in the body return to their defaults.
[[nodiscard]] Result<storage::BucketEdit> ReadBucketUpdate(std::string_view json);

}  // namespace trainyard::api::storage_api
