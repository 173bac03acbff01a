#include "control/intake/creator.h"

#include <utility>

#include "rules/iam/refusal.h"

namespace trainyard::control {

boost::asio::awaitable<Status> Creator::Require(std::string permission, iam::Resource resource,
                                                std::string field) const {
  if (!require) co_return Status();
  Status status = co_await require(std::move(permission), std::move(resource));
  if (!status && status.error().field.empty()) status.error().field = std::move(field);
  co_return status;
}

boost::asio::awaitable<Status> Creator::CheckStillMay() const {
  const bool may = !still_may || co_await still_may();
  if (may) co_return Status{};
  co_return std::unexpected(
      iam::Unauthenticated("The credential was revoked, or lost its permission, while the job was being "
                           "checked: no job was created."));
}

}  // namespace trainyard::control
