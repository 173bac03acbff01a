#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "stores/identity/identities.h"
#include "stores/storage/buckets.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::storage {

/// The buckets of this server that a service account may read, and which of them it may not write. Writing as
/// files means creating, replacing and deleting objects. The references must outlive the call. Loop thread.
boost::asio::awaitable<replica::v1::BucketRights> BucketRightsOf(Buckets& buckets,
                                                                 const identity::Identities& identities,
                                                                 std::string service_account);

/// Whether a service account may list and read a bucket's objects. Loop thread.
[[nodiscard]] bool MayReadBucket(const identity::Identities& identities, const std::string& service_account,
                                 const std::string& bucket);

}  // namespace trainyard::storage
