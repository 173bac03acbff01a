#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/message.h"
#include "rules/iam/login.h"
#include "rules/iam/resource.h"

namespace trainyard::access {

/// The authenticated caller of a request (Request::caller), set by the Door, and its permissions. Loop
/// thread. Lives as long as its request and the stream of the response.
class Caller {
 public:
  virtual ~Caller() = default;

  /// The login that the credential or the connection proves.
  [[nodiscard]] virtual const iam::Login& login() const noexcept = 0;
  /// "user:ann@example.com".
  [[nodiscard]] const std::string& principal() const noexcept { return login().principal; }
  /// Succeeds if the caller has the permission on the resource; else the error to respond with: iam::Refusal.
  virtual boost::asio::awaitable<Status> Require(std::string permission, iam::Resource resource) const = 0;
  /// Whether the login is still valid and every permission that was granted so far would be granted now.
  virtual boost::asio::awaitable<bool> StillMay() const = 0;
};

/// Caller::Require of the request's caller. Success if authentication is off.
[[nodiscard]] boost::asio::awaitable<Status> Require(const http::Request& request, std::string permission,
                                                     iam::Resource resource);
/// The caller's principal; empty if authentication is off.
[[nodiscard]] std::string PrincipalOf(const http::Request& request);

}  // namespace trainyard::access
