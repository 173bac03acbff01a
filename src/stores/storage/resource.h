#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "rules/objects/conditions.h"
#include "stores/storage/checksum.h"
#include "stores/storage/folder.h"
#include "trainyard/storage/v1/storage.pb.h"

/// The fields of the resources: which ones clients may set, and which ones the server fills in. Pure: any
/// thread. Source: discovery storage v1.
namespace trainyard::storage {

/// Checks a client's request for a new bucket. kInvalidArgument: the name, or a field that this server would
/// have to ignore.
[[nodiscard]] Status ValidateNewBucket(const v1::Bucket& bucket);
/// The same for an object's resource on insert, copy, compose and update. Output fields may be set and are
/// ignored.
[[nodiscard]] Status ValidateNewObject(const v1::Object& object);

/// Removes settings that say "off" (versioning not enabled, no retention, an empty list of rules): that is
/// how the server behaves anyway, so clients may send them.
void DropNeutral(v1::Bucket& bucket);

/// Restores what no edit changes: name, location and the output fields.
void RestoreFixed(const v1::Bucket& present, v1::Bucket& changed);

/// Fills in a bucket's output fields and defaults.
void CompleteBucket(v1::Bucket& bucket, SysTime created);

/// The fields of `sent` that a client may set, with the output fields of a new version.
struct NewVersion {
  std::int64_t generation = 0;
  SysTime now;
  std::uint64_t size = 0;
  Digests digests;
};
[[nodiscard]] v1::Object CompleteObject(v1::Object sent, const NewVersion& version);

/// The resource of a file that was not uploaded: version and times are its modification time.
[[nodiscard]] v1::Object DiscoveredObject(const std::string& bucket, const std::string& object,
                                          const FileStamp& stamp);

/// After a change of metadata: the next metageneration.
void AdvanceMetageneration(v1::Object& object, SysTime now);
void AdvanceMetageneration(v1::Bucket& bucket, SysTime now);

/// Compares the checksums that the client sent with those of the content. kInvalidArgument if they differ.
[[nodiscard]] Status CheckDigests(const v1::Object& sent, const Digests& digests);

[[nodiscard]] Version VersionOf(const v1::Object& object);
/// Buckets have no generation: 0.
[[nodiscard]] Version VersionOf(const v1::Bucket& bucket);

/// Changes the editable fields of an object: a pure function, called on another thread. Its error is returned
/// and nothing is changed.
using ObjectEdit = std::function<Status(v1::Object& object)>;

/// The same for a bucket. Fields that a client may not change are restored afterwards.
using BucketEdit = std::function<Status(v1::Bucket& bucket)>;

}  // namespace trainyard::storage
