#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "base/result.h"
#include "rules/iam/resource.h"

namespace trainyard::control {

/// Who creates a job, and what they may use for it. Loop thread; lives as long as the call.
struct Creator {
  std::string principal{};  ///< "user:ann@example.com"; empty: nobody was asked who they are
  /// Success, or the refusal that is the answer (iam::Refusal). Null: everything.
  std::function<boost::asio::awaitable<Status>(std::string permission, iam::Resource resource)> require{};
  /// Whether the login and all that was required still hold. Null: they do.
  std::function<boost::asio::awaitable<bool>()> still_may{};

  /// The refusal names the field of the job that brought the resource.
  boost::asio::awaitable<Status> Require(std::string permission, iam::Resource resource,
                                         std::string field) const;
  /// kUnauthenticated: not still_may.
  [[nodiscard]] boost::asio::awaitable<Status> CheckStillMay() const;
};

/// Whose buckets are. Null functions: nobody's. Loop thread.
struct BucketOwners {
  std::function<std::string(const std::string& bucket)> project_of{};
  std::function<boost::asio::awaitable<Status>(std::string bucket, std::string project)> set_project{};
};

}  // namespace trainyard::control
