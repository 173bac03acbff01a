#include "net/access/failed_logins.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace trainyard::access {

std::chrono::milliseconds FailedLogins::Add(const std::string& address, SysTime now) {
  auto found = by_address_.find(address);
  if (found == by_address_.end()) {
    if (by_address_.size() >= kAddressesMax) MakeRoom(now);
    found = by_address_.emplace(address, Count{.since = now}).first;
  }
  Count& count = found->second;
  if (now - count.since > kWindow) count = {.since = now};
  if (++count.failures <= kFree) return std::chrono::milliseconds(0);
  std::chrono::milliseconds pause = kPause;
  for (int i = kFree + 1; i < count.failures && pause < kPauseMax; ++i) pause *= 2;
  return std::min(pause, kPauseMax);
}

void FailedLogins::MakeRoom(SysTime now) {
  std::erase_if(by_address_, [now](const auto& entry) { return now - entry.second.since > kWindow; });
  if (by_address_.size() < kAddressesMax) return;
  by_address_.erase(
      std::ranges::min_element(by_address_, {}, [](const auto& entry) { return entry.second.since; }));
}

boost::asio::awaitable<void> SlowDown(FailedLogins& failed, std::string address, SysTime now) {
  const std::chrono::milliseconds pause = failed.Add(address, now);
  if (pause.count() == 0) co_return;
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  timer.expires_after(pause);
  co_await timer.async_wait(boost::asio::use_awaitable);
}

}  // namespace trainyard::access
