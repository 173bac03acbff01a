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

/// Cancels jobs in Slurm, with few calls at once, so that lists and submissions are not delayed while many
/// jobs are cancelled. A job that a call did not end has to be added again, as slurm::Gangs does after each
/// list. Loop thread only. The destructor waits for the calls under way and drops the rest.
class SlurmCancels {
 public:
  /// The most calls at once; each uses a thread of the pool.
  static constexpr int kAtOnceMax = 2;

  /// `pool` and `client` outlive it.
  SlurmCancels(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool, const SlurmClient& client)
      : pool_(pool), client_(client), tasks_(std::move(loop)) {}

  /// Queues the cancellation; ids of a name that already waits are added to it.
  void Add(const slurm::CancelJobs& jobs);

 private:
  boost::asio::awaitable<void> Work();

  boost::asio::thread_pool& pool_;
  const SlurmClient& client_;
  std::map<std::string, std::set<std::int64_t>> waiting_;  ///< ids by name
  std::string latest_;                                     ///< the name that was last handled
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
