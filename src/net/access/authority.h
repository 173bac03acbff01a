#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "base/result.h"
#include "net/http/message.h"
#include "rules/iam/login.h"
#include "rules/iam/resource.h"

namespace trainyard::access {

/// What the door asks of those who know: who it is, and what they hold. Loop thread only.
class Authority {
 public:
  virtual ~Authority() = default;

  /// By the token that the request shows, else by its connection where connections say it. kUnauthenticated:
  /// nobody, or nobody that is known (iam::NotLoggedIn, iam::BadToken).
  virtual boost::asio::awaitable<Result<iam::Login>> WhoAsks(const http::Request& request) = 0;

  /// Whether what the login proves still holds: it has not expired, its token is not revoked, its attempt has
  /// not ended. From memory.
  virtual boost::asio::awaitable<bool> StillHolds(iam::Login login) const = 0;

  /// What a principal has on a resource.
  struct Standing {
    bool is_granted = false;  ///< the permission
    bool is_seen = false;     ///< it has some role there, so that a refusal may say that it is there
  };
  virtual boost::asio::awaitable<Standing> StandingOf(std::string principal, std::string permission,
                                                      iam::Resource resource) = 0;
};

}  // namespace trainyard::access
