#include "control/creator.h"

#include <utility>

namespace trainyard::control {

boost::asio::awaitable<Status> Creator::Require(std::string permission, iam::Resource resource,
                                                std::string field) const {
  if (!require) co_return Status();
  Status status = co_await require(std::move(permission), std::move(resource));
  if (!status && status.error().field.empty()) status.error().field = std::move(field);
  co_return status;
}

}  // namespace trainyard::control
