#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "api/storage/storage_handlers.h"
#include "api/storage/storage_handlers_range.h"
#include "api/storage/storage_handlers_request.h"
#include "base/async/on_pool.h"
#include "net/http/gzip.h"
#include "net/http/headers.h"
#include "net/http/text.h"
#include "stores/storage/resource.h"

namespace trainyard::api::storage_api {
namespace {

constexpr std::size_t kInBytes = std::size_t{64} << 10;
constexpr std::size_t kOutBytes = std::size_t{256} << 10;

/// Decompresses one file while it is sent. Blocking; one thread at a time.
class Gunzip {
 public:
  explicit Gunzip(UniqueFd file) : file_(std::move(file)), in_(kInBytes, '\0') {}

  /// The next bytes; an empty string at the end.
  Result<std::string> Next() {
    std::string out(kOutBytes, '\0');
    std::size_t filled = 0;
    while (filled < out.size()) {
      if (pending_.empty() && (decoder_ == nullptr || decoder_->done())) {
        TY_TRY(const bool more, Read());
        if (!more) break;
        decoder_ = std::make_unique<http::GzipDecoder>();
      }
      if (decoder_->done()) decoder_ = std::make_unique<http::GzipDecoder>();
      const std::span<std::byte> space(reinterpret_cast<std::byte*>(out.data()) + filled,
                                       out.size() - filled);
      // Also without input: the decoder may have output that did not fit before.
      TY_TRY(const http::GzipDecoder::Step step, decoder_->Decode(pending_, space));
      pending_.remove_prefix(step.consumed);
      filled += step.produced;
      if (step.produced > 0 || step.consumed > 0 || decoder_->done()) continue;
      TY_TRY(const bool more, Read());
      if (!more) break;
    }
    if (filled == 0 && decoder_ != nullptr && !decoder_->done()) {
      return std::unexpected(Error{Code::kDataLoss, "the gzip object is truncated", {}});
    }
    out.resize(filled);
    return out;
  }

 private:
  Result<bool> Read() {
    const ssize_t got = ::pread(file_.get(), in_.data(), in_.size(), offset_);
    if (got < 0) return std::unexpected(ErrnoError(errno, "read the object"));
    offset_ += got;
    pending_ = std::string_view(in_).substr(0, static_cast<std::size_t>(got));
    return got > 0;
  }

  UniqueFd file_;
  std::string in_;
  std::string_view pending_;
  off_t offset_ = 0;
  std::unique_ptr<http::GzipDecoder> decoder_;
};

boost::asio::awaitable<Result<http::StreamPart>> NextPiece(std::shared_ptr<Gunzip> gunzip,
                                                           boost::asio::thread_pool& files) {
  auto next = [gunzip] { return gunzip->Next(); };
  TY_CO_TRY(std::string piece, co_await OnPool(files, std::move(next)));
  co_return http::StreamPart(std::move(piece));
}

/// Blocks.
bool BeginsAsGzip(int file) {
  std::array<unsigned char, 2> magic{};
  return ::pread(file, magic.data(), magic.size(), 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

/// A gzip file's contents, decompressed while they are sent. Several members one after another (as compose
/// makes from gzip objects) are one text. If the file is truncated or malformed, the answer ends before its
/// last chunk.
/// @param files  the pool that reads and decompresses; must outlive the answer.
http::StreamBody GunzippedBody(UniqueFd file, boost::asio::thread_pool& files) {
  auto gunzip = std::make_shared<Gunzip>(std::move(file));  // shared with the task that reads
  return {.next = [gunzip = std::move(gunzip), &files] { return NextPiece(gunzip, files); }};
}

constexpr int kPartialContent = 206;
constexpr int kRangeNotSatisfiable = 416;

std::string Quoted(const std::string& etag) { return "\"" + etag + "\""; }

/// Headers that every answer about the contents has.
void AddObjectHeaders(const v1::Object& object, http::Headers& headers) {
  http::ConfineContent(headers);
  headers.Add("ETag", Quoted(object.etag()));
  headers.Add("X-Goog-Generation", std::to_string(object.generation()));
  headers.Add("X-Goog-Metageneration", std::to_string(object.metageneration()));
  headers.Add("X-Goog-Storage-Class", object.storage_class());
  headers.Add("X-Goog-Stored-Content-Length", std::to_string(object.size()));
  headers.Add("X-Goog-Stored-Content-Encoding",
              object.content_encoding().empty() ? "identity" : object.content_encoding());
  if (!object.crc32c().empty())
    headers.Add("X-Goog-Hash", "crc32c=" + object.crc32c() + ",md5=" + object.md5_hash());
  // A client may have set any text: the response writer replaces line ends by spaces.
  const auto add = [&headers](const char* name, const std::string& value) {
    if (!value.empty()) headers.Add(name, value);
  };
  add("Content-Type", object.content_type());
  add("Content-Language", object.content_language());
  add("Content-Disposition", object.content_disposition());
  add("Cache-Control", object.cache_control());
}

/// Headers of contents that are sent as they are stored.
void AddStoredHeaders(const v1::Object& object, http::Headers& headers) {
  headers.Add("Accept-Ranges", "bytes");
  if (!object.content_encoding().empty()) headers.Add("Content-Encoding", object.content_encoding());
}

/// Whether the client gets a gzip object as text: it does not accept gzip, and Cache-Control does not forbid
/// it. A file that only claims to be gzip is sent as it is. Source: Cloud Storage's page "Transcoding of
/// gzip-compressed files".
awaitable<Result<bool>> Gunzips(Buckets& buckets, const Request& request,
                                const storage::ReadableObject& opened) {
  const v1::Object& object = opened.resource;
  if (object.content_encoding() != "gzip" || http::AcceptsGzip(request.headers.Get("Accept-Encoding")))
    co_return false;
  if (object.cache_control().find("no-transform") != std::string::npos) co_return false;
  auto begins = [file = opened.file.get()] { return BeginsAsGzip(file); };
  co_return co_await OnPool(buckets.files(), std::move(begins));
}

/// The whole text: its length is unknown and ranges of it cannot be sent.
Response Gunzipped(Response response, storage::ReadableObject opened, boost::asio::thread_pool& files) {
  response.headers.Add("Warning", "214 UploadServer gunzipped");
  response.headers.Add("Vary", "Accept-Encoding");
  response.body = GunzippedBody(std::move(opened.file), files);
  return response;
}

/// The range to send; nothing: everything. A client with another version gets everything (If-Range).
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

awaitable<Result<Response>> ReadMedia(Buckets& buckets, const Request& request, std::string bucket,
                                      std::string name, Conditions when) {
  const Conditions not_match = storage::TakeNotMatch(when);
  TY_CO_TRY(storage::ReadableObject opened,
            co_await buckets.OpenRead(std::move(bucket), std::move(name), std::move(when)));
  const v1::Object& object = opened.resource;
  Response response;
  AddObjectHeaders(object, response.headers);
  if (!storage::CheckConditions(not_match, storage::VersionOf(object))) {
    response.status = kNotModified;
    co_return response;
  }
  TY_CO_TRY(const bool gunzips, co_await Gunzips(buckets, request, opened));
  if (gunzips) co_return Gunzipped(std::move(response), std::move(opened), buckets.files());
  AddStoredHeaders(object, response.headers);
  const auto range = WantedRange(request, object);
  const std::string size = std::to_string(object.size());
  if (!range) {
    response = StatusAnswer(kRangeNotSatisfiable, "requestedRangeNotSatisfiable", range.error().message);
    response.headers.Set("Content-Range", "bytes */" + size);
    http::ConfineContent(response.headers);
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

awaitable<Result<Response>> GetMedia(Buckets& buckets, Request& request) {
  TY_CO_TRY(Conditions when, ReadConditions(request));
  co_return co_await ReadMedia(buckets, request, request.Parameter("bucket"), request.Parameter("object"),
                               std::move(when));
}

}  // namespace trainyard::api::storage_api
