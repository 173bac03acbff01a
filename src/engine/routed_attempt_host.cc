#include "engine/routed_attempt_host.h"

#include <algorithm>
#include <iterator>

namespace trainyard::engine {

void RoutedAttemptHost::SetOnGone(OnGone on_gone) {
  here_.SetOnGone(on_gone);
  with_agents_.SetOnGone(std::move(on_gone));
}

boost::asio::awaitable<Result<std::vector<AttemptRef>>> RoutedAttemptHost::List() {
  TY_CO_TRY(std::vector<AttemptRef> all, co_await here_.List());
  TY_CO_TRY(std::vector<AttemptRef> away, co_await with_agents_.List());
  std::ranges::move(away, std::back_inserter(all));
  co_return all;
}

}  // namespace trainyard::engine
