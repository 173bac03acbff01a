#include "server/bucket_rights.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "iam/principal.h"

namespace trainyard::server {

boost::asio::awaitable<replica::v1::BucketRights> BucketRightsOf(storage::Buckets& buckets,
                                                                 const identity::Identities& identities,
                                                                 std::string service_account) {
  static constexpr std::array<std::string_view, 2> kRead{"storage.objects.get", "storage.objects.list"};
  static constexpr std::array<std::string_view, 2> kWrite{"storage.objects.create", "storage.objects.delete"};
  const std::string principal = iam::ServiceAccountPrincipal(service_account);
  replica::v1::BucketRights rights;
  const auto names = co_await buckets.BucketNames();
  if (!names) co_return rights;  // nothing is seen then; the log of the storage says why
  for (const std::string& name : *names) {
    const iam::Resource bucket = iam::Resource::Bucket(name);
    const auto has = [&](std::string_view permission) {
      return identities.Grants(principal, permission, bucket);
    };
    if (!std::ranges::all_of(kRead, has)) continue;
    replica::v1::BucketRights::Bucket& seen = *rights.add_buckets();
    seen.set_name(name);
    seen.set_read_only(!std::ranges::all_of(kWrite, has));
  }
  co_return rights;
}

}  // namespace trainyard::server
