#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/async/task_group.h"
#include "engine/slurm/slurm_client.h"
#include "rules/slurm/gangs.h"

namespace trainyard::engine {

/// Cancels jobs of Slurm, few calls at once, so that lists and submissions go on while many are cancelled.
/// What a call did not end has to be added again, as slurm::Gangs does after each list. Loop thread only. The
/// destructor waits for the calls under way; the rest is dropped.
class SlurmCancels {
 public:
  /// Calls at once: so many threads of the pool it takes.
  static constexpr int kAtOnceMax = 2;

  /// `pool` and `client` outlive it.
  SlurmCancels(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool, const SlurmClient& client)
      : pool_(pool), client_(client), tasks_(std::move(loop)) {}

  /// Ids of a name that waits for its turn are added to it.
  void Add(const slurm::CancelJobs& jobs);

 private:
  boost::asio::awaitable<void> Work();

  boost::asio::thread_pool& pool_;
  const SlurmClient& client_;
  std::map<std::string, std::set<std::int64_t>> waiting_;  ///< ids by name
  std::string latest_;                                     ///< the name that had its turn
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
