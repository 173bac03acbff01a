#include <unistd.h>

#include <memory>
#include <utility>

#include "api/storage_handlers_range.h"
#include "api/storage_handlers_routes.h"

namespace trainyard::api::storage_api {
namespace {

constexpr int kPartialContent = 206;
constexpr int kRangeNotSatisfiable = 416;
constexpr int kNotModified = 304;

std::string Quoted(const std::string& etag) { return "\"" + etag + "\""; }

/// Headers that every answer about the contents has.
void AddObjectHeaders(const v1::Object& object, http::Headers& headers) {
  headers.Add("ETag", Quoted(object.etag()));
  headers.Add("X-Goog-Generation", std::to_string(object.generation()));
  headers.Add("X-Goog-Metageneration", std::to_string(object.metageneration()));
  headers.Add("X-Goog-Storage-Class", object.storage_class());
  headers.Add("X-Goog-Stored-Content-Length", std::to_string(object.size()));
  headers.Add("X-Goog-Stored-Content-Encoding",
              object.content_encoding().empty() ? "identity" : object.content_encoding());
  if (!object.crc32c().empty())
    headers.Add("X-Goog-Hash", "crc32c=" + object.crc32c() + ",md5=" + object.md5_hash());
  headers.Add("Accept-Ranges", "bytes");
  // Any text may have been set by a client: the response writer makes line ends spaces.
  const auto add = [&headers](const char* name, const std::string& value) {
    if (!value.empty()) headers.Add(name, value);
  };
  add("Content-Type", object.content_type());
  add("Content-Encoding", object.content_encoding());
  add("Content-Language", object.content_language());
  add("Content-Disposition", object.content_disposition());
  add("Cache-Control", object.cache_control());
}

/// The range to send; nothing: all of it. A client that holds another version gets all (If-Range).
Result<std::optional<ByteRange>> WantedRange(const Request& request, const v1::Object& object) {
  const std::string_view if_range = request.headers.Get("If-Range");
  if (!request.headers.Has("Range") || (!if_range.empty() && if_range != Quoted(object.etag())))
    return std::nullopt;
  return ReadRange(request.headers.Get("Range"), object.size());
}

http::FileBody BodyOf(storage::ReadableObject& opened, const ByteRange& range) {
  const auto close = [](const int* descriptor) {
    ::close(*descriptor);
    delete descriptor;
  };
  return {.descriptor = std::shared_ptr<const int>(new int(opened.file.Release()), close),
          .offset = range.offset,
          .length = range.length};
}

}  // namespace

awaitable<Result<Response>> GetMedia(Buckets& buckets, Request& request) {
  TY_CO_TRY(Conditions when, ReadConditions(request));
  const auto not_match = std::exchange(when.if_generation_not_match, std::nullopt);
  TY_CO_TRY(storage::ReadableObject opened,
            co_await buckets.OpenRead(request.Parameter("bucket"), request.Parameter("object"), when));
  const v1::Object& object = opened.resource;
  Response response;
  AddObjectHeaders(object, response.headers);
  const bool same_etag = request.headers.Get("If-None-Match") == Quoted(object.etag());
  if (same_etag || (not_match && *not_match == object.generation())) {
    response.status = kNotModified;
    co_return response;
  }
  const auto range = WantedRange(request, object);
  const std::string size = std::to_string(object.size());
  if (!range) {
    response = ErrorAnswer(range.error());
    response.status = kRangeNotSatisfiable;
    response.headers.Set("Content-Range", "bytes */" + size);
    co_return response;
  }
  const ByteRange whole{.offset = 0, .length = object.size()};
  if (*range) {
    const std::string last = std::to_string((*range)->offset + (*range)->length - 1);
    response.status = kPartialContent;
    response.headers.Set("Content-Range",
                         "bytes " + std::to_string((*range)->offset) + "-" + last + "/" + size);
  }
  response.body = BodyOf(opened, range->value_or(whole));
  co_return response;
}

}  // namespace trainyard::api::storage_api
