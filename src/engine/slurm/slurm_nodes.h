#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "engine/slurm/slurm_client.h"
#include "slurm/node_list.h"
#include "slurm/partition_gpus.h"

namespace trainyard::engine {

/// What the nodes of a cluster have, as Slurm said last. Loop thread only; what is given outlives it.
class SlurmNodes {
 public:
  /// What nodes have does not change often.
  static constexpr std::chrono::seconds kKept{60};

  /// `said`: what Slurm has just said; empty: it did not answer.
  SlurmNodes(const SlurmClient& client, const Clock& clock, std::vector<slurm::Node> said);

  /// One of each kind (slurm::KindsOf).
  [[nodiscard]] const std::vector<slurm::Node>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] const slurm::PartitionGpus& gpus() const noexcept { return gpus_; }
  /// Whether it is older than kKept, and nobody asks just now.
  [[nodiscard]] bool are_old() const;
  /// Asks on the pool if they are. Whoever comes meanwhile does not wait: it uses what is known.
  boost::asio::awaitable<void> Look(boost::asio::thread_pool& pool);

 private:
  void Take(std::vector<slurm::Node> nodes);

  const SlurmClient& client_;
  const Clock& clock_;
  std::vector<slurm::Node> nodes_;
  slurm::PartitionGpus gpus_;     ///< of nodes_
  std::optional<SysTime> asked_;  ///< nothing: not yet, or in vain
};

}  // namespace trainyard::engine
