#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "net/http/message.h"
#include "stores/storage/buckets.h"
#include "stores/storage/conditions.h"
#include "trainyard/storage/v1/storage.pb.h"

/// What the storage handlers share: reading requests and printing answers. Loop thread.
namespace trainyard::api::storage_api {

namespace v1 = ::trainyard::storage::v1;
using boost::asio::awaitable;
using http::Request;
using http::Response;
using storage::Buckets;
using storage::Conditions;

/// generation, ifGenerationMatch and so on, or with `source` sourceGeneration, ifSourceGenerationMatch and so
/// on. Not those of the source: If-Match and If-None-Match too. kInvalidArgument: not a number.
[[nodiscard]] Result<Conditions> ReadConditions(const Request& request, bool source = false);

/// "true", "True", "1"; false if absent. kInvalidArgument: anything else but their opposites.
[[nodiscard]] Result<bool> ReadBool(const Request& request, std::string_view name);

/// `maxResults`: 1000 if absent and at most. kInvalidArgument: below 1.
[[nodiscard]] Result<std::size_t> ReadResultsMax(const Request& request);

/// The whole body, bounded, as JSON of `message`; an empty body is an empty message.
awaitable<Status> ReadJsonBody(Request& request, google::protobuf::Message& message);
awaitable<Result<std::string>> ReadTextBody(Request& request);

/// Applies what the path and query of an upload say about the object; they win over its resource.
void TakeQuery(const Request& request, v1::Object& resource);

/// md5Hash and crc32c from `x-goog-hash: crc32c=...,md5=...` and Content-MD5, where the resource has none
/// yet.
void TakeHashHeaders(const Request& request, v1::Object& resource);

/// The next piece of the body: `bytes_max` long, shorter only at its end.
awaitable<Result<std::string>> ReadPiece(http::BodyReader& body, std::size_t bytes_max);

/// selfLink and mediaLink as this client can reach them.
void AddLinks(const Request& request, v1::Object& object);
[[nodiscard]] Response ObjectAnswer(const Request& request, v1::Object object);
[[nodiscard]] Response JsonAnswer(const google::protobuf::Message& message);
/// In storage's shape; a "...NotMatch" that did not hold is a 304 without a body.
[[nodiscard]] Response ErrorAnswer(const Error& error);

}  // namespace trainyard::api::storage_api
