#include <algorithm>
#include <array>
#include <utility>

#include "api/storage/storage_handlers_edit.h"
#include "api/storage/storage_handlers_routes.h"

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

awaitable<Result<Response>> Edited(Buckets& buckets, Request& request, storage::ObjectEdit edit) {
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
  TY_CO_TRY(const std::string body, co_await ReadTextBody(request));
  TY_CO_TRY(storage::ObjectEdit edit, ReadPatch(body));
  co_return co_await Edited(buckets, request, std::move(edit));
}

awaitable<Result<Response>> UpdateObject(Buckets& buckets, Request& request) {
  TY_CO_TRY(const std::string body, co_await ReadTextBody(request));
  TY_CO_TRY(storage::ObjectEdit edit, ReadUpdate(body));
  co_return co_await Edited(buckets, request, std::move(edit));
}

}  // namespace trainyard::api::storage_api
