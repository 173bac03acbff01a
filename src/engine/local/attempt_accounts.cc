#include "engine/local/attempt_accounts.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/async/on_pool.h"
#include "programs/runtimes/attempt_uids.h"

namespace trainyard::engine {

AttemptAccounts::AttemptAccounts(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool,
                                 std::string attempts_dir)
    : loop_(std::move(loop)), pool_(pool), attempts_dir_(std::move(attempts_dir)), ended_(loop_) {}

boost::asio::awaitable<bool> AttemptAccounts::Has(std::uint32_t uid) {
  const bool fresh = std::chrono::steady_clock::now() - looked_at_ < kMemory;
  if (fresh && uids_.contains(uid)) co_return true;
  const std::uint64_t wanted = begun_ + 1;
  while (done_ < wanted) {
    if (looking_)
      co_await ended_.Wait();
    else
      co_await Look();
  }
  co_return uids_.contains(uid);
}

boost::asio::awaitable<void> AttemptAccounts::Look() {
  /// However this look ends, also by cancellation, waiting callers resume.
  struct Looking {
    AttemptAccounts& accounts;
    explicit Looking(AttemptAccounts& owner) : accounts(owner) { accounts.looking_ = true; }
    ~Looking() {
      accounts.looking_ = false;
      accounts.ended_.Set();
      accounts.ended_.Reset();
    }
  };
  const Looking looking(*this);
  boost::asio::steady_timer pause(loop_);
  pause.expires_at(looked_at_ + kPause);
  co_await pause.async_wait(boost::asio::use_awaitable);
  const std::uint64_t number = ++begun_;
  looked_at_ = std::chrono::steady_clock::now();
  auto look = [folder = attempts_dir_] { return replica::FindAttemptUids(folder); };
  uids_ = co_await OnPool(pool_, std::move(look));
  done_ = number;
}

}  // namespace trainyard::engine
