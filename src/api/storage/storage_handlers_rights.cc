#include "api/storage/storage_handlers_rights.h"

#include <utility>

#include "net/access/caller.h"
#include "rules/iam/refusal.h"
#include "rules/iam/resource.h"

namespace trainyard::api::storage_api {

namespace {

constexpr const char* kCreate = "storage.objects.create";
constexpr const char* kDelete = "storage.objects.delete";

}  // namespace

awaitable<Status> RequireOnBucket(const Request& request, std::string permission, std::string bucket) {
  iam::Resource resource = iam::Resource::Bucket(std::move(bucket));
  co_return co_await access::Require(request, std::move(permission), std::move(resource));
}

awaitable<bool> MayDelete(const Request& request, const std::string& bucket) {
  if (request.caller == nullptr) co_return true;
  const Status may = co_await RequireOnBucket(request, kDelete, bucket);
  co_return may.has_value();
}

awaitable<Result<Conditions>> ForWriter(Buckets& buckets, const Request& request, std::string bucket,
                                        Conditions when) {
  if (request.caller == nullptr) co_return when;
  const auto present = co_await buckets.GetBucket(bucket);
  if (!present && present.error().code == Code::kNotFound)
    co_return std::unexpected(iam::Absent(kCreate, iam::Resource::Bucket(std::move(bucket))));
  if (!present) co_return std::unexpected(present.error());
  const bool may_replace = co_await MayDelete(request, bucket);
  if (!may_replace) when.if_generation_match = 0;
  co_return when;
}

awaitable<Status> StillMayWrite(const Request& request, std::string bucket, bool may_replace) {
  TY_CO_RETURN_IF_ERROR(co_await RequireOnBucket(request, kCreate, bucket));
  if (may_replace) TY_CO_RETURN_IF_ERROR(co_await RequireOnBucket(request, kDelete, std::move(bucket)));
  co_return Status();
}

awaitable<Error> WriteError(const Request& request, std::string bucket, Conditions asked, Error error) {
  if (error.code != Code::kFailedPrecondition || asked.if_generation_match == 0) co_return error;
  if (request.caller == nullptr) co_return error;
  const Status may = co_await RequireOnBucket(request, kDelete, std::move(bucket));
  co_return may ? error : may.error();
}

}  // namespace trainyard::api::storage_api
