#include "stores/storage/resource.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/timestamp.pb.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/base64.h"
#include "base/wire/resource_name.h"
#include "base/wire/time.h"

namespace trainyard::storage {
namespace {

constexpr std::int64_t kNanosecondsPerMicrosecond = 1000;

// Fields that are stored and shown. IAM, ACLs and location have no effect on a server of one machine without
// users, and nobody relies on them here. Versioning, retention, lifecycle and encryption keys would be relied
// on, so they are refused.
constexpr std::array<std::string_view, 8> kBucketFields{
    "name", "location", "storage_class", "labels", "location_type", "rpo", "iam_configuration", "kind"};
constexpr std::array<std::string_view, 4> kBucketEditable{"storage_class", "labels", "rpo",
                                                          "iam_configuration"};
constexpr std::array<std::string_view, 7> kBucketOutputs{
    "id", "etag", "metageneration", "self_link", "updated", "project_number", "time_created"};
constexpr std::array<std::string_view, 6> kObjectRefused{"kms_key_name",   "customer_encryption",
                                                         "retention",      "event_based_hold",
                                                         "temporary_hold", "restore_token"};
constexpr std::array<std::string_view, 10> kObjectKept{
    "bucket",           "name",         "cache_control", "content_disposition", "content_encoding",
    "content_language", "content_type", "metadata",      "custom_time",         "storage_class"};

bool Contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<const google::protobuf::FieldDescriptor*> FieldsOf(const google::protobuf::Message& message) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  return fields;
}

std::unexpected<Error> Unsupported(const google::protobuf::FieldDescriptor& field,
                                   std::string_view resource) {
  return std::unexpected(InvalidArgument({}, std::string(resource) + "." + field.json_name() +
                                                 " is not supported by this server; leave it out"));
}

/// Cloud Storage's times have three fraction digits, and gcloud warns about more than six.
google::protobuf::Timestamp TimeOf(SysTime time) {
  return wire::ToProto(std::chrono::floor<std::chrono::milliseconds>(time));
}

std::string Etag(std::int64_t generation, std::int64_t metageneration) {
  return text::Base64(std::to_string(generation) + "/" + std::to_string(metageneration));
}

}  // namespace

Status ValidateNewBucket(const v1::Bucket& bucket) {
  TY_RETURN_IF_ERROR(wire::ValidateBucketName(bucket.name()));
  for (const auto* field : FieldsOf(bucket)) {
    if (!Contains(kBucketFields, field->name()) && !Contains(kBucketOutputs, field->name())) {
      return Unsupported(*field, "Bucket");
    }
  }
  return {};
}

Status ValidateNewObject(const v1::Object& object) {
  TY_RETURN_IF_ERROR(wire::ValidateObjectName(object.name()));
  for (const auto* field : FieldsOf(object)) {
    if (Contains(kObjectRefused, field->name())) return Unsupported(*field, "Object");
  }
  return {};
}

void DropNeutral(v1::Bucket& bucket) {
  if (!bucket.versioning().enabled()) bucket.clear_versioning();
  if (!bucket.autoclass().enabled()) bucket.clear_autoclass();
  if (!bucket.billing().requester_pays()) bucket.clear_billing();
  if (!bucket.hierarchical_namespace().enabled()) bucket.clear_hierarchical_namespace();
  if (bucket.soft_delete_policy().retention_duration_seconds() == 0) bucket.clear_soft_delete_policy();
  if (bucket.retention_policy().retention_period() == 0) bucket.clear_retention_policy();
  if (bucket.encryption().default_kms_key_name().empty()) bucket.clear_encryption();
  if (bucket.lifecycle().rule().empty()) bucket.clear_lifecycle();
  if (bucket.logging().log_bucket().empty()) bucket.clear_logging();
  if (bucket.website().main_page_suffix().empty() && bucket.website().not_found_page().empty())
    bucket.clear_website();
}

void RestoreFixed(const v1::Bucket& present, v1::Bucket& changed) {
  const auto& reflection = *present.GetReflection();
  v1::Bucket kept = present;
  for (const std::string_view name : kBucketEditable) {
    reflection.ClearField(&kept, v1::Bucket::descriptor()->FindFieldByName(std::string(name)));
  }
  for (const auto* field : FieldsOf(changed)) {
    const bool fixed = (Contains(kBucketFields, field->name()) || Contains(kBucketOutputs, field->name())) &&
                       !Contains(kBucketEditable, field->name());
    if (fixed) reflection.ClearField(&changed, field);
  }
  changed.MergeFrom(kept);
  if (changed.storage_class().empty()) changed.set_storage_class("STANDARD");
}

void CompleteBucket(v1::Bucket& bucket, SysTime created) {
  bucket.set_kind("storage#bucket");
  bucket.set_id(bucket.name());
  if (bucket.location().empty()) bucket.set_location("US");
  std::ranges::transform(*bucket.mutable_location(), bucket.mutable_location()->begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  if (bucket.location_type().empty()) {
    const bool wide = bucket.location() == "US" || bucket.location() == "EU" || bucket.location() == "ASIA";
    bucket.set_location_type(wide ? "multi-region" : "region");
  }
  if (bucket.storage_class().empty()) bucket.set_storage_class("STANDARD");
  *bucket.mutable_time_created() = TimeOf(created);
  *bucket.mutable_updated() = TimeOf(created);
  bucket.set_metageneration(1);
  bucket.set_etag(Etag(0, 1));
}

v1::Object CompleteObject(v1::Object sent, const NewVersion& version) {
  for (const auto* field : FieldsOf(sent)) {
    if (!Contains(kObjectKept, field->name())) sent.GetReflection()->ClearField(&sent, field);
  }
  sent.set_kind("storage#object");
  sent.set_id(sent.bucket() + "/" + sent.name() + "/" + std::to_string(version.generation));
  if (sent.content_type().empty()) sent.set_content_type("application/octet-stream");
  if (sent.storage_class().empty()) sent.set_storage_class("STANDARD");
  sent.set_size(version.size);
  sent.set_md5_hash(version.digests.md5_hash);
  sent.set_crc32c(version.digests.crc32c);
  sent.set_generation(version.generation);
  sent.set_metageneration(1);
  sent.set_etag(Etag(version.generation, 1));
  for (auto* time : {sent.mutable_time_created(), sent.mutable_updated(), sent.mutable_time_finalized(),
                     sent.mutable_time_storage_class_updated()}) {
    *time = TimeOf(version.now);
  }
  return sent;
}

v1::Object DiscoveredObject(const std::string& bucket, const std::string& object, const FileStamp& stamp) {
  v1::Object resource;
  resource.set_bucket(bucket);
  resource.set_name(object);
  const NewVersion version{
      .generation = std::max<std::int64_t>(stamp.mtime_ns / kNanosecondsPerMicrosecond, 1),
      .now = SysTime(std::chrono::nanoseconds(stamp.mtime_ns)),
      .size = stamp.size,
      .digests = {}};
  return CompleteObject(std::move(resource), version);
}

void AdvanceMetageneration(v1::Object& object, SysTime now) {
  object.set_metageneration(object.metageneration() + 1);
  object.set_etag(Etag(object.generation(), object.metageneration()));
  *object.mutable_updated() = TimeOf(now);
}

void AdvanceMetageneration(v1::Bucket& bucket, SysTime now) {
  bucket.set_metageneration(bucket.metageneration() + 1);
  bucket.set_etag(Etag(0, bucket.metageneration()));
  *bucket.mutable_updated() = TimeOf(now);
}

Status CheckDigests(const v1::Object& sent, const Digests& digests) {
  if (!sent.md5_hash().empty() && sent.md5_hash() != digests.md5_hash) {
    return std::unexpected(InvalidArgument({}, "Provided MD5 hash \"" + sent.md5_hash() +
                                                   "\" doesn't match calculated MD5 hash \"" +
                                                   digests.md5_hash + "\"."));
  }
  if (!sent.crc32c().empty() && sent.crc32c() != digests.crc32c) {
    return std::unexpected(InvalidArgument({}, "Provided CRC32C \"" + sent.crc32c() +
                                                   "\" doesn't match calculated CRC32C \"" + digests.crc32c +
                                                   "\"."));
  }
  return {};
}

Version VersionOf(const v1::Object& object) {
  return {
      .generation = object.generation(), .metageneration = object.metageneration(), .etag = object.etag()};
}

Version VersionOf(const v1::Bucket& bucket) {
  return {.generation = 0, .metageneration = bucket.metageneration(), .etag = bucket.etag()};
}

}  // namespace trainyard::storage
