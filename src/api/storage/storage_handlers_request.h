#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/message.h"
#include "rules/objects/conditions.h"
#include "stores/storage/buckets.h"
#include "stores/storage/resource.h"
#include "trainyard/storage/v1/storage.pb.h"

/// Common functions of the storage handlers: reading requests and printing answers. Loop thread.
namespace trainyard::api::storage_api {

namespace v1 = ::trainyard::storage::v1;
using boost::asio::awaitable;
using http::Request;
using http::Response;
using storage::Buckets;
using storage::Conditions;

inline constexpr int kNotModified = 304;

/// generation, ifGenerationMatch and so on, or with `source` sourceGeneration, ifSourceGenerationMatch and so
/// on. Without `source` also If-Match and If-None-Match. kInvalidArgument: not a number.
[[nodiscard]] Result<Conditions> ReadConditions(const Request& request, bool source = false);

/// "true", "True", "1"; false if absent. kInvalidArgument: anything else except their opposites.
[[nodiscard]] Result<bool> ReadBool(const Request& request, std::string_view name);

/// `maxResults`: 1000 if absent and at most. kInvalidArgument: below 1.
[[nodiscard]] Result<std::size_t> ReadResultsMax(const Request& request);

/// The whole body, bounded, as JSON of `message`; an empty body is an empty message.
awaitable<Status> ReadJsonBody(Request& request, google::protobuf::Message& message);
awaitable<Result<std::string>> ReadTextBody(Request& request);

/// Applies the fields that an upload's path and query contain; they take precedence over its resource.
void TakeQuery(const Request& request, v1::Object& resource);

/// Takes md5Hash and crc32c from `x-goog-hash: crc32c=...,md5=...` and Content-MD5, if the resource has none
/// yet.
void TakeHashHeaders(const Request& request, v1::Object& resource);

/// The next piece of the body: `bytes_max` long, shorter only at its end.
awaitable<Result<std::string>> ReadPiece(http::BodyReader& body, std::size_t bytes_max);

/// Sets selfLink and mediaLink to addresses that this client can reach.
void AddLinks(const Request& request, v1::Object& object);
[[nodiscard]] Response ObjectAnswer(const Request& request, v1::Object object);
[[nodiscard]] Response JsonAnswer(const google::protobuf::Message& message);
/// An error in storage's form; a failed "...NotMatch" is a 304 without a body.
[[nodiscard]] Response ErrorAnswer(const Error& error);

// Errors that have an HTTP status but no Code, and the XML API's form of all errors. Pure: any thread.

/// An answer in storage v1's shape with a status and a reason that no Code has: 410, 416.
/// Source: Cloud Storage's page "HTTP status and error codes for JSON".
[[nodiscard]] http::Response StatusAnswer(int status, std::string_view reason, std::string_view message);

/// The XML API's error document: `<Error><Code>NoSuchKey</Code><Message>...</Message></Error>`. Control
/// characters that XML cannot contain become spaces. Source: Cloud Storage's page "HTTP status and error
/// codes for XML". @param details  empty: none.
[[nodiscard]] std::string PrintXmlError(std::string_view code, std::string_view message,
                                        std::string_view details = {});

// Rights that storage's handlers check in addition to the table of routes, if authentication is on. Loop
// thread. Source: Cloud Storage's page "IAM permissions for JSON methods".

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
