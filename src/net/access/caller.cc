#include "net/access/caller.h"

#include <utility>

namespace trainyard::access {

boost::asio::awaitable<Status> Require(const http::Request& request, std::string permission,
                                       iam::Resource resource) {
  const std::shared_ptr<const Caller> caller = request.caller;
  if (caller == nullptr) co_return Status();
  co_return co_await caller->Require(std::move(permission), std::move(resource));
}

std::string PrincipalOf(const http::Request& request) {
  return request.caller == nullptr ? std::string() : request.caller->principal();
}

}  // namespace trainyard::access
