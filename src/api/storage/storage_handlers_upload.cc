#include <algorithm>
#include <utility>

#include "api/storage/storage_handlers.h"
#include "api/storage/storage_handlers_multipart.h"
#include "api/storage/storage_handlers_range.h"
#include "api/storage/storage_handlers_request.h"
#include "base/wire/json.h"
#include "net/http/text.h"
#include "net/http/uri.h"
#include "stores/storage/uploads.h"

namespace trainyard::api::storage_api {

namespace {

using storage::Uploads;

constexpr std::size_t kPieceBytes = storage::ObjectWriter::kPieceBytes;

/// The size of pieces, small for a small body, so that small objects need no large buffers.
std::size_t PieceBytes(const Request& request) {
  const std::uint64_t announced = request.content_length.value_or(kPieceBytes);
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(announced, 1, kPieceBytes));
}

awaitable<Result<Response>> Finished(Buckets& buckets, Request& request, const Conditions& when,
                                     storage::ObjectWriter writer) {
  TY_CO_RETURN_IF_ERROR(
      co_await StillMayWrite(request, request.Parameter("bucket"), when.if_generation_match != 0));
  TY_CO_TRY(v1::Object object, co_await buckets.Finish(std::move(writer)));
  co_return ObjectAnswer(request, std::move(object));
}

awaitable<Result<Response>> InsertMedia(Buckets& buckets, Request& request, Conditions when) {
  v1::Object resource;
  TakeQuery(request, resource);
  resource.set_content_type(std::string(request.headers.Get("Content-Type")));
  TakeHashHeaders(request, resource);
  TY_CO_TRY(storage::ObjectWriter writer, co_await buckets.BeginWrite(std::move(resource), when));
  const std::size_t piece_bytes = PieceBytes(request);
  while (request.body != nullptr) {
    TY_CO_TRY(std::string piece, co_await ReadPiece(*request.body, piece_bytes));
    if (piece.empty()) break;
    TY_CO_RETURN_IF_ERROR(co_await writer.Append(std::move(piece)));
  }
  co_return co_await Finished(buckets, request, when, std::move(writer));
}

Result<v1::Object> ReadResource(const Request& request, const MultipartUpload& upload) {
  v1::Object resource;
  TY_RETURN_IF_ERROR(wire::ParseJson(*upload.resource(), resource));
  TakeQuery(request, resource);
  TakeHashHeaders(request, resource);
  if (resource.content_type().empty()) resource.set_content_type(upload.media_type());
  return resource;
}

awaitable<Result<Response>> InsertMultipart(Buckets& buckets, Request& request, Conditions when) {
  TY_CO_TRY(MultipartUpload upload, MultipartUpload::Create(request.headers.Get("Content-Type")));
  std::optional<storage::ObjectWriter> writer;
  const std::size_t piece_bytes = PieceBytes(request);
  while (request.body != nullptr && !upload.complete()) {
    TY_CO_TRY(const std::string piece, co_await ReadPiece(*request.body, piece_bytes));
    if (piece.empty()) break;
    TY_CO_RETURN_IF_ERROR(upload.Feed(piece));
    std::string media = upload.TakeMedia();
    if (!writer && upload.media_began()) {
      TY_CO_TRY(v1::Object resource, ReadResource(request, upload));
      TY_CO_TRY(storage::ObjectWriter begun, co_await buckets.BeginWrite(std::move(resource), when));
      writer.emplace(std::move(begun));
    }
    if (!media.empty()) TY_CO_RETURN_IF_ERROR(co_await writer->Append(std::move(media)));
  }
  if (!upload.complete() || !writer) {
    co_return std::unexpected(
        InvalidArgument({}, "Malformed multipart body: it ends before its closing boundary"));
  }
  co_return co_await Finished(buckets, request, when, *std::move(writer));
}

/// media and multipart: one request, one object.
awaitable<Result<Response>> InsertAtOnce(Buckets& buckets, Request& request, bool is_media) {
  TY_CO_TRY(const Conditions asked, ReadConditions(request));
  const std::string& bucket = request.Parameter("bucket");
  TY_CO_TRY(Conditions when, co_await ForWriter(buckets, request, bucket, asked));
  Result<Response> response = is_media ? co_await InsertMedia(buckets, request, std::move(when))
                                       : co_await InsertMultipart(buckets, request, std::move(when));
  if (response) co_return response;
  Error error = co_await WriteError(request, bucket, asked, std::move(response).error());
  co_return std::unexpected(std::move(error));
}

}  // namespace

awaitable<Result<Response>> InsertObject(Buckets& buckets, Request& request) {
  const std::string_view type = request.Query("uploadType");
  if (request.HasQuery("upload_id")) co_return co_await ContinueUpload(buckets, request);
  if (type == "resumable") co_return co_await StartUpload(buckets, request);
  if (type == "media" || type == "multipart")
    co_return co_await InsertAtOnce(buckets, request, type == "media");
  co_return std::unexpected(InvalidArgument(
      {}, "Unknown uploadType '" + std::string(type) + "'; it must be media, multipart or resumable"));
}

namespace {

constexpr std::uint64_t kChunkMultiple = std::uint64_t{256} << 10;
constexpr int kResumeIncomplete = 308;
constexpr int kClientClosedRequest = 499;  // Google's answer to a cancellation

Response Incomplete(std::uint64_t received) {
  Response response = Response::Empty(kResumeIncomplete);
  if (received > 0) response.headers.Add("Range", "bytes=0-" + std::to_string(received - 1));
  return response;
}

std::unexpected<Error> Refused(std::string message) {
  return std::unexpected(InvalidArgument({}, std::move(message)));
}

/// The range of a PUT's bytes; without a header it has all bytes.
Result<UploadRange> RangeOf(const Request& request) {
  if (request.headers.Has("Content-Range")) return ReadUploadRange(request.headers.Get("Content-Range"));
  return UploadRange{.first = 0, .last = std::nullopt, .total = request.content_length};
}

Status CheckRange(const UploadRange& range, const Uploads::Turn& turn) {
  if (range.total && turn.total && *range.total != *turn.total) {
    return Refused("The upload was started with a length of " + std::to_string(*turn.total) + " bytes, not " +
                   std::to_string(*range.total));
  }
  if (range.first && *range.first > turn.received) {
    // After a 503, clients query where to continue.
    return std::unexpected(Unavailable("This server has received " + std::to_string(turn.received) +
                                       " bytes of the upload. Continue after them"));
  }
  const bool is_final = !range.last || (range.total && *range.last + 1 == *range.total);
  if (range.first && !is_final && (*range.last + 1 - *range.first) % kChunkMultiple != 0) {
    return Refused("The bytes of a chunk that is not the last must be a multiple of 262144");
  }
  return {};
}

awaitable<Result<Response>> Finished(Buckets& buckets, Request& request, Uploads::Turn turn) {
  TY_CO_RETURN_IF_ERROR(co_await StillMayWrite(request, request.Parameter("bucket"), turn.may_replace));
  v1::Object sent;
  TakeHashHeaders(request, sent);
  TY_CO_TRY(v1::Object object, co_await buckets.uploads().Finish(std::move(turn), std::move(sent)));
  co_return ObjectAnswer(request, std::move(object));
}

/// Appends the request's body, except for bytes received before. Returns the number of bytes received in all.
awaitable<Result<std::uint64_t>> Receive(Buckets& buckets, Request& request, Uploads::Turn turn,
                                         UploadRange range) {
  const std::optional<std::uint64_t> total = range.total ? range.total : turn.total;
  std::uint64_t at = *range.first;
  while (request.body != nullptr) {
    TY_CO_TRY(std::string piece, co_await ReadPiece(*request.body, kPieceBytes));
    if (piece.empty()) break;
    const std::uint64_t end = at + piece.size();
    const bool too_long = (range.last && end > *range.last + 1) || (total && end > *total);
    if (too_long) co_return Refused("The body is longer than its Content-Range says");
    if (end > turn.received) {
      if (at < turn.received) piece.erase(0, static_cast<std::size_t>(turn.received - at));
      TY_CO_RETURN_IF_ERROR(co_await buckets.uploads().Append(turn, std::move(piece)));
      turn.received = end;
    }
    at = end;
  }
  if (range.last && at != *range.last + 1)
    co_return Refused("The body is shorter than its Content-Range says");
  co_return turn.received;
}

}  // namespace

awaitable<Result<Response>> StartUpload(Buckets& buckets, Request& request) {
  TY_CO_TRY(Conditions asked, ReadConditions(request));
  TY_CO_TRY(const Conditions when,
            co_await ForWriter(buckets, request, request.Parameter("bucket"), std::move(asked)));
  v1::Object resource;
  TY_CO_RETURN_IF_ERROR(co_await ReadJsonBody(request, resource));
  TakeQuery(request, resource);
  TakeHashHeaders(request, resource);
  if (resource.content_type().empty()) {
    resource.set_content_type(std::string(request.headers.Get("X-Upload-Content-Type")));
  }
  const auto total = http::ParseDecimal(request.headers.Get("X-Upload-Content-Length"));
  TY_CO_TRY(const std::string id, co_await buckets.uploads().Start(std::move(resource), when, total));
  Response response = Response::Empty(200);
  response.headers.Add("Location", request.Origin() + request.path + "?uploadType=resumable&upload_id=" + id);
  response.headers.Add("X-GUploader-UploadID", id);
  co_return response;
}

awaitable<Result<Response>> ContinueUpload(Buckets& buckets, Request& request) {
  TY_CO_TRY(const UploadRange range, RangeOf(request));
  TY_CO_TRY(Uploads::Turn turn, co_await buckets.uploads().Take(std::string(request.Query("upload_id")),
                                                                request.Parameter("bucket")));
  if (turn.done) co_return ObjectAnswer(request, *std::move(turn.done));
  if (turn.complete) co_return co_await Finished(buckets, request, std::move(turn));
  TY_CO_RETURN_IF_ERROR(CheckRange(range, turn));
  if (!range.first) {
    if (range.total && *range.total == turn.received)
      co_return co_await Finished(buckets, request, std::move(turn));
    co_return Incomplete(turn.received);
  }
  TY_CO_TRY(turn.received, co_await Receive(buckets, request, turn, range));
  const std::optional<std::uint64_t> total = range.total ? range.total : turn.total;
  if (total ? *total == turn.received : !range.last)
    co_return co_await Finished(buckets, request, std::move(turn));
  TY_CO_TRY(const std::uint64_t received, co_await buckets.uploads().Sync(std::move(turn)));
  co_return Incomplete(received);
}

awaitable<Result<Response>> CancelUpload(Buckets& buckets, Request& request) {
  TY_CO_RETURN_IF_ERROR(co_await buckets.uploads().Cancel(std::string(request.Query("upload_id")),
                                                          request.Parameter("bucket")));
  co_return Response::Empty(kClientClosedRequest);
}

}  // namespace trainyard::api::storage_api
