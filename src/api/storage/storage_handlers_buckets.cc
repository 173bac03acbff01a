#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>
#include <utility>

#include "api/iam/iam_request.h"
#include "api/storage/storage_handlers.h"
#include "api/storage/storage_handlers_request.h"
#include "base/wire/json.h"
#include "base/wire/json_tree.h"
#include "base/wire/runs_bucket.h"
#include "net/access/caller.h"
#include "rules/iam/resource.h"
#include "stores/identity/identities.h"

namespace trainyard::api::storage_api {

namespace {

namespace json = boost::json;

void AddLinks(const Request& request, v1::Bucket& bucket) {
  bucket.set_self_link(request.Origin() + "/storage/v1/b/" + bucket.name());
}

awaitable<Result<Response>> Edit(Buckets& buckets, Request& request,
                                 Result<storage::BucketEdit> (*read)(std::string_view json)) {
  TY_CO_TRY(const std::string body, co_await ReadTextBody(request));
  TY_CO_TRY(storage::BucketEdit edit, read(body));
  TY_CO_TRY(const Conditions when, ReadConditions(request));
  TY_CO_TRY(v1::Bucket bucket,
            co_await buckets.EditBucket(request.Parameter("bucket"), std::move(edit), when));
  co_return BucketAnswer(request, std::move(bucket));
}

}  // namespace

Response BucketAnswer(const Request& request, v1::Bucket bucket) {
  AddLinks(request, bucket);
  Response response = JsonAnswer(bucket);
  response.headers.Set("ETag", bucket.etag());
  return response;
}

Response BucketsAnswer(const Request& request, v1::Buckets page) {
  for (v1::Bucket& bucket : *page.mutable_items()) AddLinks(request, bucket);
  return JsonAnswer(page);
}

awaitable<Result<v1::Bucket>> MakeBucket(Buckets& buckets, Request& request, std::string project) {
  TY_CO_TRY(const bool retention, ReadBool(request, "enableObjectRetention"));
  if (retention)
    co_return std::unexpected(InvalidArgument({}, "Object retention is not supported by this server"));
  v1::Bucket sent;
  TY_CO_RETURN_IF_ERROR(co_await ReadJsonBody(request, sent));
  if (request.caller != nullptr) TY_CO_RETURN_IF_ERROR(wire::CheckRunsBucket(sent.name(), project));
  co_return co_await buckets.InsertBucket(std::move(sent));
}

awaitable<Result<Response>> GetBucket(Buckets& buckets, Request& request) {
  TY_CO_TRY(const Conditions when, ReadConditions(request));
  TY_CO_TRY(const bool soft_deleted, ReadBool(request, "softDeleted"));
  if (soft_deleted || when.generation) {  // deleted objects are not kept, and buckets have no versions
    co_return std::unexpected(NotFound("There is no deleted bucket " + request.Parameter("bucket")));
  }
  TY_CO_TRY(v1::Bucket bucket, co_await buckets.GetBucket(request.Parameter("bucket"), when));
  co_return BucketAnswer(request, std::move(bucket));
}

awaitable<Result<Response>> PatchBucket(Buckets& buckets, Request& request) {
  return Edit(buckets, request, ReadBucketPatch);
}

awaitable<Result<Response>> UpdateBucket(Buckets& buckets, Request& request) {
  return Edit(buckets, request, ReadBucketUpdate);
}

awaitable<Result<v1::Buckets>> PageOfBuckets(Buckets& buckets, Request& request) {
  TY_CO_TRY(const bool soft_deleted, ReadBool(request, "softDeleted"));
  TY_CO_TRY(const std::size_t results_max, ReadResultsMax(request));
  if (soft_deleted) {  // deleted buckets are not kept
    v1::Buckets none;
    none.set_kind("storage#buckets");
    co_return none;
  }
  std::string prefix(request.Query("prefix"));
  std::string token(request.Query("pageToken"));
  co_return co_await buckets.ListBuckets(std::move(prefix), std::move(token), results_max);
}

awaitable<Result<Response>> DeleteBucket(Buckets& buckets, Request& request) {
  TY_CO_TRY(const Conditions when, ReadConditions(request));
  TY_CO_RETURN_IF_ERROR(co_await buckets.DeleteBucket(request.Parameter("bucket"), when));
  co_return Response::Empty();
}

awaitable<Result<Response>> GetStorageLayout(Buckets& buckets, Request& request) {
  TY_CO_TRY(const v1::Bucket bucket, co_await buckets.GetBucket(request.Parameter("bucket")));
  v1::BucketStorageLayout layout;
  layout.set_kind("storage#storageLayout");
  layout.set_bucket(bucket.name());
  layout.set_location(bucket.location());
  layout.set_location_type(bucket.location_type());
  layout.mutable_hierarchical_namespace()->set_enabled(false);
  co_return JsonAnswer(layout);
}

awaitable<Result<Response>> ListNothing(Buckets& buckets, Request& request) {
  TY_CO_TRY(const v1::Bucket present, co_await buckets.GetBucket(request.Parameter("bucket")));
  const std::string_view collection = std::string_view(request.path).substr(request.path.rfind('/') + 1);
  const std::string_view kind = collection == "notificationConfigs" ? "storage#notifications"
                                : collection == "anywhereCaches"    ? "storage#anywhereCaches"
                                : collection == "operations"        ? "storage#operations"
                                : collection == "managedFolders"    ? "storage#managedFolders"
                                                                    : "storage#folders";
  const boost::json::object answer{{"kind", kind}};
  co_return Response::Json(wire::IndentJson(boost::json::serialize(answer)));
}

namespace {

std::string ProjectOfQuery(const Identities& identities, const Request& request) {
  const std::string_view project = request.Query("project");
  return project.empty() ? identities.default_project() : std::string(project);
}

/// "projects/_/buckets/B" or "projects/_/buckets/B/objects/O"; checks that it exists.
awaitable<Result<std::string>> ResourceId(Buckets& buckets, Request& request) {
  const std::string bucket = request.Parameter("bucket");
  std::string id = "projects/_/buckets/" + bucket;
  for (const auto& [name, value] : request.parameters) {
    if (name != "object") continue;
    TY_CO_TRY(const v1::Object object, co_await buckets.Stat(bucket, value));
    co_return id.append("/objects/").append(object.name());
  }
  TY_CO_TRY(const v1::Bucket present, co_await buckets.GetBucket(bucket));
  co_return id;
}

/// Storage's policies have a kind and a resource in addition to the fields of all policies.
Response PolicyAnswer(const std::string& id, const iam::v1::Policy& policy) {
  json::object answer = json::parse(wire::PrintJson(policy)).as_object();
  answer["kind"] = "storage#policy";
  answer["resourceId"] = id;
  answer["version"] = 1;
  if (!answer.contains("bindings")) answer["bindings"] = json::array();
  return Response::Json(wire::IndentJson(json::serialize(answer)));
}

}  // namespace

awaitable<Result<Response>> InsertOwnedBucket(Buckets& buckets, Identities& identities, Request& request) {
  const std::string project = ProjectOfQuery(identities, request);
  TY_CO_TRY(v1::Bucket made, co_await MakeBucket(buckets, request, project));
  TY_CO_RETURN_IF_ERROR(co_await identities.SetBucketProject(made.name(), project));
  co_return BucketAnswer(request, std::move(made));
}

awaitable<Result<Response>> DeleteOwnedBucket(Buckets& buckets, Identities& identities, Request& request) {
  TY_CO_TRY(Response gone, co_await DeleteBucket(buckets, request));
  TY_CO_RETURN_IF_ERROR(co_await identities.ForgetBucket(request.Parameter("bucket")));
  co_return gone;
}

awaitable<Result<Response>> ListOwnedBuckets(Buckets& buckets, Identities& identities, Request& request) {
  TY_CO_TRY(v1::Buckets page, co_await PageOfBuckets(buckets, request));
  if (request.caller != nullptr) {
    const std::string project = ProjectOfQuery(identities, request);
    const auto others = [&identities, &project](const v1::Bucket& bucket) {
      return identities.ProjectOf(bucket.name()) != project;
    };
    auto& items = *page.mutable_items();
    items.erase(std::remove_if(items.begin(), items.end(), others), items.end());
  }
  co_return BucketsAnswer(request, std::move(page));
}

awaitable<Result<Response>> GetBucketPolicy(Buckets& buckets, Identities& identities, Request& request) {
  TY_CO_TRY(const std::string id, co_await ResourceId(buckets, request));
  co_return PolicyAnswer(id, identities.Policy(iam::Resource::Bucket(request.Parameter("bucket"))));
}

awaitable<Result<Response>> SetBucketPolicy(Buckets& buckets, Identities& identities, Request& request) {
  TY_CO_TRY(const std::string id, co_await ResourceId(buckets, request));
  TY_CO_TRY(const std::string text, co_await ReadTextBody(request));
  boost::system::error_code failed;
  json::value sent = json::parse(text, failed);
  if (failed || !sent.is_object()) co_return std::unexpected(InvalidArgument("", "The body is not a policy"));
  for (const char* own : {"kind", "resourceId"}) sent.as_object().erase(own);
  iam::v1::SetIamPolicyRequest wanted;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(json::serialize(sent), *wanted.mutable_policy(), "policy"));
  iam::Resource bucket = iam::Resource::Bucket(request.Parameter("bucket"));
  TY_CO_TRY(const iam::v1::Policy policy,
            co_await identities.SetPolicy(std::move(bucket), std::move(wanted), StillMayOf(request)));
  co_return PolicyAnswer(id, policy);
}

awaitable<Result<Response>> TestBucketPermissions(Buckets& buckets, Identities& identities,
                                                  Request& request) {
  const iam::Resource bucket = iam::Resource::Bucket(request.Parameter("bucket"));
  const std::string principal = access::PrincipalOf(request);
  json::array held;
  // A caller that may see nothing there is not told whether it exists.
  const bool is_seen = request.caller == nullptr || identities.Knows(principal, bucket);
  if (is_seen) TY_CO_RETURN_IF_ERROR(co_await ResourceId(buckets, request));
  for (const auto& [name, value] : request.query) {
    if (name != "permissions") continue;
    if (request.caller == nullptr || identities.Grants(principal, value, bucket)) held.emplace_back(value);
  }
  json::object answer{{"kind", "storage#testIamPermissionsResponse"}, {"permissions", std::move(held)}};
  co_return Response::Json(wire::IndentJson(json::serialize(answer)));
}

}  // namespace trainyard::api::storage_api
