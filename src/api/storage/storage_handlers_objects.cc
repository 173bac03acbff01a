#include <algorithm>
#include <array>
#include <utility>

#include "api/storage/storage_handlers.h"
#include "api/storage/storage_handlers_request.h"
#include "net/http/text.h"

namespace trainyard::api::storage_api {

namespace {

Result<storage::NameQuery> ReadNameQuery(const Request& request) {
  storage::NameQuery query{.prefix = std::string(request.Query("prefix")),
                           .delimiter = std::string(request.Query("delimiter")),
                           .start_offset = std::string(request.Query("startOffset")),
                           .end_offset = std::string(request.Query("endOffset")),
                           .page_token = std::string(request.Query("pageToken")),
                           .match_glob = std::string(request.Query("matchGlob"))};
  TY_TRY(query.include_trailing_delimiter, ReadBool(request, "includeTrailingDelimiter"));
  TY_TRY(query.results_max, ReadResultsMax(request));
  return query;
}

awaitable<Result<Response>> Edit(Buckets& buckets, Request& request,
                                 Result<storage::ObjectEdit> (*read)(std::string_view json)) {
  TY_CO_TRY(const std::string body, co_await ReadTextBody(request));
  TY_CO_TRY(storage::ObjectEdit edit, read(body));
  TY_CO_TRY(const Conditions when, ReadConditions(request));
  TY_CO_TRY(v1::Object object, co_await buckets.Edit(request.Parameter("bucket"), request.Parameter("object"),
                                                     std::move(edit), when));
  co_return ObjectAnswer(request, std::move(object));
}

/// Whether the request comes from a copying command of gcloud or gsutil: `cp`, `mv` and `rsync` list their
/// destination before they upload. Both name their command in the User-Agent.
bool IsCopyCommand(const Request& request) {
  constexpr std::array<std::string_view, 6> kCommands{"command/gcloud.storage.cp",
                                                      "command/gcloud.storage.mv",
                                                      "command/gcloud.storage.rsync",
                                                      "command/cp",
                                                      "command/mv",
                                                      "command/rsync"};
  const std::string_view agent = request.headers.Get("User-Agent");
  return std::ranges::any_of(kCommands,
                             [agent](std::string_view command) { return agent.contains(command); });
}

}  // namespace

awaitable<Result<Response>> GetObject(Buckets& buckets, Request& request) {
  if (request.Query("alt") == "media") co_return co_await GetMedia(buckets, request);
  TY_CO_TRY(const Conditions when, ReadConditions(request));
  TY_CO_TRY(const bool soft_deleted, ReadBool(request, "softDeleted"));
  if (soft_deleted) {
    co_return std::unexpected(
        NotFound("No such object: " + request.Parameter("bucket") + "/" + request.Parameter("object")));
  }
  TY_CO_TRY(v1::Object object,
            co_await buckets.Stat(request.Parameter("bucket"), request.Parameter("object"), when));
  co_return ObjectAnswer(request, std::move(object));
}

awaitable<Result<Response>> ListObjects(Buckets& buckets, Request& request) {
  TY_CO_TRY(storage::NameQuery query, ReadNameQuery(request));
  TY_CO_TRY(const bool soft_deleted, ReadBool(request, "softDeleted"));
  const std::string& bucket = request.Parameter("bucket");
  if (soft_deleted) {  // deleted objects are not kept
    TY_CO_TRY(const v1::Bucket present, co_await buckets.GetBucket(bucket));
    v1::Objects none;
    none.set_kind("storage#objects");
    co_return JsonAnswer(none);
  }
  Result<v1::Objects> listed = co_await buckets.List(bucket, std::move(query));
  if (!listed && listed.error().code == Code::kNotFound && buckets.creates_on_use() &&
      IsCopyCommand(request)) {
    listed = v1::Objects();  // the following upload creates the bucket
    listed->set_kind("storage#objects");
  }
  TY_CO_TRY(v1::Objects page, std::move(listed));
  for (v1::Object& object : *page.mutable_items()) AddLinks(request, object);
  co_return JsonAnswer(page);
}

awaitable<Result<Response>> DeleteObject(Buckets& buckets, Request& request) {
  TY_CO_TRY(const Conditions when, ReadConditions(request));
  TY_CO_RETURN_IF_ERROR(
      co_await buckets.Delete(request.Parameter("bucket"), request.Parameter("object"), when));
  co_return Response::Empty();
}

awaitable<Result<Response>> PatchObject(Buckets& buckets, Request& request) {
  return Edit(buckets, request, ReadPatch);
}

awaitable<Result<Response>> UpdateObject(Buckets& buckets, Request& request) {
  return Edit(buckets, request, ReadUpdate);
}

namespace {

/// Whether a copy's body sets the new object's metadata; a name or a storage class alone does not.
bool SaysMetadata(const v1::Object& body) {
  return !body.content_type().empty() || !body.content_encoding().empty() ||
         !body.content_language().empty() || !body.content_disposition().empty() ||
         !body.cache_control().empty() || body.metadata_size() > 0 || body.has_custom_time();
}

/// @param to_bucket  the source's bucket, if the path only names the object (moveTo).
Result<storage::Transfer> ReadTransfer(const Request& request, const std::string& to_bucket,
                                       v1::Object body) {
  if (request.HasQuery("destinationKmsKeyName")) {
    return std::unexpected(InvalidArgument({}, "destinationKmsKeyName is not supported by this server"));
  }
  storage::Transfer transfer{.from_bucket = request.Parameter("bucket"),
                             .from_object = request.Parameter("object")};
  TY_TRY(transfer.from_when, ReadConditions(request, true));
  TY_TRY(transfer.to_when, ReadConditions(request));
  transfer.to_when.generation.reset();
  transfer.replaces_metadata = SaysMetadata(body);
  transfer.to = std::move(body);
  transfer.to.set_bucket(to_bucket);
  transfer.to.set_name(request.Parameter("to_object"));
  // The copy has the source's checksums.
  transfer.to.clear_md5_hash();
  transfer.to.clear_crc32c();
  return transfer;
}

/// Source: discovery, maxBytesRewrittenPerCall: an integral multiple of 1 MiB. It limits copies between
/// locations, of which there is only one here.
Status CheckRewriteBytesMax(const Request& request) {
  constexpr std::uint64_t kMultiple = std::uint64_t{1} << 20;
  if (!request.HasQuery("maxBytesRewrittenPerCall")) return {};
  const auto bytes_max = http::ParseDecimal(request.Query("maxBytesRewrittenPerCall"));
  if (bytes_max && *bytes_max > 0 && *bytes_max % kMultiple == 0) return {};
  return std::unexpected(InvalidArgument(
      {}, "Invalid value for 'maxBytesRewrittenPerCall': it must be a positive multiple of 1048576"));
}

/// The rights on the source were already checked.
awaitable<Result<v1::Object>> Copied(Buckets& buckets, Request& request) {
  const std::string& to_bucket = request.Parameter("to_bucket");
  TY_CO_RETURN_IF_ERROR(co_await RequireOnBucket(request, "storage.objects.create", to_bucket));
  v1::Object body;
  TY_CO_RETURN_IF_ERROR(co_await ReadJsonBody(request, body));
  TY_CO_TRY(storage::Transfer transfer, ReadTransfer(request, to_bucket, std::move(body)));
  const Conditions asked = transfer.to_when;
  TY_CO_TRY(transfer.to_when, co_await ForWriter(buckets, request, to_bucket, asked));
  Result<v1::Object> copy = co_await buckets.Copy(std::move(transfer));
  if (copy) co_return copy;
  Error error = co_await WriteError(request, to_bucket, asked, std::move(copy).error());
  co_return std::unexpected(std::move(error));
}

}  // namespace

awaitable<Result<Response>> CopyObject(Buckets& buckets, Request& request) {
  TY_CO_TRY(v1::Object object, co_await Copied(buckets, request));
  co_return ObjectAnswer(request, std::move(object));
}

/// Every rewrite is completed in one call, so no client has a token of ours: if one comes (from a client that
/// continued after an error), the rewrite starts again, which Google's service allows at any time.
awaitable<Result<Response>> RewriteObject(Buckets& buckets, Request& request) {
  TY_CO_RETURN_IF_ERROR(CheckRewriteBytesMax(request));
  TY_CO_TRY(v1::Object object, co_await Copied(buckets, request));
  AddLinks(request, object);
  v1::RewriteResponse answer;
  answer.set_kind("storage#rewriteResponse");
  answer.set_done(true);
  answer.set_object_size(static_cast<std::int64_t>(object.size()));
  answer.set_total_bytes_rewritten(static_cast<std::int64_t>(object.size()));
  *answer.mutable_resource() = std::move(object);
  co_return JsonAnswer(answer);
}

awaitable<Result<Response>> MoveObject(Buckets& buckets, Request& request) {
  for (const char* permission : {"storage.objects.create", "storage.objects.delete"})
    TY_CO_RETURN_IF_ERROR(co_await RequireOnBucket(request, permission, request.Parameter("bucket")));
  TY_CO_TRY(storage::Transfer transfer, ReadTransfer(request, request.Parameter("bucket"), {}));
  TY_CO_TRY(v1::Object object, co_await buckets.Move(std::move(transfer)));
  co_return ObjectAnswer(request, std::move(object));
}

awaitable<Result<Response>> ComposeObject(Buckets& buckets, Request& request) {
  const std::string& bucket = request.Parameter("bucket");
  for (const char* permission : {"storage.objects.get", "storage.objects.create"})
    TY_CO_RETURN_IF_ERROR(co_await RequireOnBucket(request, permission, bucket));
  v1::ComposeRequest body;
  TY_CO_RETURN_IF_ERROR(co_await ReadJsonBody(request, body));
  TY_CO_TRY(const Conditions asked, ReadConditions(request));
  TY_CO_TRY(const Conditions when, co_await ForWriter(buckets, request, bucket, asked));
  TY_CO_TRY(const bool deletes_by_query, ReadBool(request, "deleteSourceObjects"));
  std::vector<storage::ComposeSource> sources;
  for (const auto& part : body.source_objects()) {
    storage::ComposeSource source{.object = part.name()};
    if (part.generation() != 0) source.when.generation = part.generation();
    if (part.object_preconditions().has_if_generation_match()) {
      source.when.if_generation_match = part.object_preconditions().if_generation_match();
    }
    sources.push_back(std::move(source));
  }
  v1::Object destination = std::move(*body.mutable_destination());
  // Its checksums are not compared: gcloud sends those of the first part.
  destination.set_bucket(bucket);
  destination.set_name(request.Parameter("object"));
  if (request.HasQuery("kmsKeyName")) destination.set_kms_key_name(std::string(request.Query("kmsKeyName")));
  const bool deletes = body.delete_source_objects() || deletes_by_query;
  if (deletes) TY_CO_RETURN_IF_ERROR(co_await RequireOnBucket(request, "storage.objects.delete", bucket));
  Result<v1::Object> object =
      co_await buckets.Compose(std::move(destination), std::move(sources), when, deletes);
  if (object) co_return ObjectAnswer(request, *std::move(object));
  Error error = co_await WriteError(request, bucket, asked, std::move(object).error());
  co_return std::unexpected(std::move(error));
}

}  // namespace trainyard::api::storage_api
