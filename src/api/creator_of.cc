#include "api/creator_of.h"

#include <string>
#include <utility>

#include "net/access/caller.h"

namespace trainyard::api {

control::Creator CreatorOf(const http::Request& request) {
  if (request.caller == nullptr) return {};
  auto require = [caller = request.caller](std::string permission, iam::Resource resource) {
    return caller->Require(std::move(permission), std::move(resource));
  };
  return {.principal = request.caller->principal(),
          .require = std::move(require),
          .still_may = [caller = request.caller] { return caller->StillMay(); }};
}

}  // namespace trainyard::api
