#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>

#include "base/async/event.h"

namespace trainyard::engine {

/// The accounts as which living attempts run. Only asked about accounts that are not otherwise known, so most
/// servers never look. Loop thread only; /proc is read on a pool. Must outlive its callers.
class AttemptAccounts {
 public:
  /// `pool` outlives it.
  AttemptAccounts(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool,
                  std::string attempts_dir);

  /// Whether a living attempt runs as the account. A positive answer is cached for a second; otherwise it
  /// looks, at most ten times a second for all callers together. Attempts that began before the call are
  /// seen.
  boost::asio::awaitable<bool> Has(std::uint32_t uid);

 private:
  boost::asio::awaitable<void> Look();

  static constexpr std::chrono::seconds kMemory{1};
  static constexpr std::chrono::milliseconds kPause{100};

  boost::asio::any_io_executor loop_;
  boost::asio::thread_pool& pool_;
  std::string attempts_dir_;
  std::set<std::uint32_t> uids_;
  std::chrono::steady_clock::time_point looked_at_{};
  std::uint64_t begun_ = 0;  ///< looks
  std::uint64_t done_ = 0;
  bool looking_ = false;
  Event ended_;  ///< a look
};

}  // namespace trainyard::engine
