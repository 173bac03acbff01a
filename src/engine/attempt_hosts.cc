#include "engine/attempt_hosts.h"

#include <algorithm>
#include <iterator>

namespace trainyard::engine {

void AttemptHosts::SetOnGone(const AttemptHost::OnGone& on_gone) const {
  here.SetOnGone(on_gone);
  if (with_agents != nullptr) with_agents->SetOnGone(on_gone);
}

boost::asio::awaitable<Result<std::vector<AttemptRef>>> AttemptHosts::List() const {
  TY_CO_TRY(std::vector<AttemptRef> all, co_await here.List());
  if (with_agents == nullptr) co_return all;
  TY_CO_TRY(std::vector<AttemptRef> away, co_await with_agents->List());
  std::ranges::move(away, std::back_inserter(all));
  co_return all;
}

}  // namespace trainyard::engine
