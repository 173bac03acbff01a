// Uploads in one request: media and multipart.
#include <algorithm>
#include <utility>

#include "api/storage/storage_handlers_multipart.h"
#include "api/storage/storage_handlers_rights.h"
#include "api/storage/storage_handlers_routes.h"
#include "base/wire/json.h"
#include "net/http/text.h"

namespace trainyard::api::storage_api {
namespace {

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

}  // namespace trainyard::api::storage_api
