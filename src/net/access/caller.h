#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/message.h"
#include "rules/iam/login.h"
#include "rules/iam/resource.h"

namespace trainyard::access {

/// Who asks, as the door found out (Request::caller), and what they may. Loop thread. Lives as long as its
/// request and what the request's answer streams.
class Caller {
 public:
  virtual ~Caller() = default;

  /// What was shown, or the connection proves.
  [[nodiscard]] virtual const iam::Login& login() const noexcept = 0;
  /// "user:ann@example.com".
  [[nodiscard]] const std::string& principal() const noexcept { return login().principal; }
  /// Success, or the refusal that is the answer: iam::Refusal.
  virtual boost::asio::awaitable<Status> Require(std::string permission, iam::Resource resource) const = 0;
  /// Whether the login still holds, and all that was given would be given now.
  virtual boost::asio::awaitable<bool> StillMay() const = 0;
};

/// As Caller::Require of who asks. Success where nobody was asked who they are: authentication is off.
[[nodiscard]] boost::asio::awaitable<Status> Require(const http::Request& request, std::string permission,
                                                     iam::Resource resource);
/// Empty: nobody was asked.
[[nodiscard]] std::string PrincipalOf(const http::Request& request);

}  // namespace trainyard::access
