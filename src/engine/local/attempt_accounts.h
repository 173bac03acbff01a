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

/// Which accounts the attempts that live now run as: asked for accounts that nobody else answers for, so most
/// servers never look. Loop thread only; looking is a pool's work. Outlives who asks.
class AttemptAccounts {
 public:
  /// `pool` outlives it.
  AttemptAccounts(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool,
                  std::string attempts_dir);

  /// True from memory for a second; else looks, at most ten times a second for all who ask together. What
  /// began before the question is seen.
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
