#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "base/result.h"
#include "rules/iam/resource.h"

namespace trainyard::control {

/// The caller that creates a job, and what it may use for it. Loop thread; lives as long as the call.
struct Creator {
  std::string principal{};  ///< "user:ann@example.com"; empty: there is no authentication
  /// Success, or the refusal to answer with (iam::Refusal). Null: everything is allowed.
  std::function<boost::asio::awaitable<Status>(std::string permission, iam::Resource resource)> require{};
  /// Whether the login and all required permissions are still valid. Null: they are.
  std::function<boost::asio::awaitable<bool>()> still_may{};

  /// The refusal names the job's field that names the resource.
  boost::asio::awaitable<Status> Require(std::string permission, iam::Resource resource,
                                         std::string field) const;
  /// kUnauthenticated if still_may says no.
  [[nodiscard]] boost::asio::awaitable<Status> CheckStillMay() const;
};

/// The owners of buckets. If a function is null, buckets have no owner. Loop thread.
struct BucketOwners {
  std::function<std::string(const std::string& bucket)> project_of{};
  std::function<boost::asio::awaitable<Status>(std::string bucket, std::string project)> set_project{};
};

}  // namespace trainyard::control
