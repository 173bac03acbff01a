#include "stores/storage/bucket_rights.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "rules/iam/principal.h"

namespace trainyard::storage {

namespace {

using Permissions = std::array<std::string_view, 2>;
constexpr Permissions kRead{"storage.objects.get", "storage.objects.list"};
constexpr Permissions kWrite{"storage.objects.create", "storage.objects.delete"};

bool HasAll(const identity::Identities& identities, std::string_view principal,
            const Permissions& permissions, const std::string& bucket) {
  return std::ranges::all_of(permissions, [&](std::string_view permission) {
    return identities.Grants(principal, permission, iam::Resource::Bucket(bucket));
  });
}

}  // namespace

bool MayReadBucket(const identity::Identities& identities, const std::string& service_account,
                   const std::string& bucket) {
  return HasAll(identities, iam::ServiceAccountPrincipal(service_account), kRead, bucket);
}

boost::asio::awaitable<replica::v1::BucketRights> BucketRightsOf(Buckets& buckets,
                                                                 const identity::Identities& identities,
                                                                 std::string service_account) {
  const std::string principal = iam::ServiceAccountPrincipal(service_account);
  replica::v1::BucketRights rights;
  const auto names = co_await buckets.BucketNames();
  if (!names) co_return rights;  // no bucket is visible then; the storage log says why
  for (const std::string& name : *names) {
    if (!HasAll(identities, principal, kRead, name)) continue;
    replica::v1::BucketRights::Bucket& seen = *rights.add_buckets();
    seen.set_name(name);
    seen.set_read_only(!HasAll(identities, principal, kWrite, name));
  }
  co_return rights;
}

}  // namespace trainyard::storage
