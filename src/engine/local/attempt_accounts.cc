#include "engine/local/attempt_accounts.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <string>
#include <utility>

#include "base/async/on_pool.h"
#include "base/number.h"
#include "programs/runtimes/attempt_processes.h"

namespace trainyard::engine {

namespace {

/// Smaller ids belong to the machine's accounts: people, services, systemd's dynamic users.
constexpr std::uint64_t kFirstMin = 65'536;
/// The kernel reserves the highest number for "not set".
constexpr std::uint64_t kLastMax = 4'294'967'294;

}  // namespace

Result<JobUsers> ParseJobUsers(std::string_view text) {
  constexpr std::uint64_t kCountMin = std::uint64_t{kJobBlockIds} * kJobBlocksMin;
  const auto refused = [text](const std::string& why) {
    return std::unexpected(InvalidArgument("", "'" + std::string(text) + "' " + why));
  };
  const std::size_t dash = text.find('-');
  const auto lowest = WholeNumber<std::uint64_t>(text.substr(0, dash));
  const auto highest =
      WholeNumber<std::uint64_t>(dash == std::string_view::npos ? "" : text.substr(dash + 1));
  if (!lowest || !highest)
    return refused("is not FIRST-LAST: two numbers of users, as 1900000000-1999999999");
  const std::uint64_t first = *lowest;
  const std::uint64_t last = *highest;
  if (first < kFirstMin) return refused("begins below 65536, where this machine's own accounts are");
  if (last > kLastMax) return refused("ends above 4294967294, the last number that a user can have");
  if (last < first || last - first + 1 < kCountMin)
    return refused("is too small: it needs 16777216 numbers, 65536 for each of 256 jobs");
  return JobUsers{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last - first + 1)};
}

replica::v1::IdBlock BlockOf(const JobUsers& users, std::int64_t job_uid) {
  const std::uint32_t blocks = users.count / kJobBlockIds;
  const auto number = static_cast<std::uint32_t>(static_cast<std::uint64_t>(job_uid) % blocks);
  replica::v1::IdBlock block;
  block.set_first(users.first + number * kJobBlockIds);
  block.set_count(kJobBlockIds);
  return block;
}

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
