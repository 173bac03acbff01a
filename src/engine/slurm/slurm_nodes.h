#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "engine/slurm/slurm_client.h"
#include "rules/slurm/component.h"
#include "rules/slurm/node_list.h"

namespace trainyard::engine {

/// What the nodes of a cluster have, as Slurm said last. Loop thread only; what is given outlives it.
class SlurmNodes {
 public:
  /// What nodes have does not change often.
  static constexpr std::chrono::seconds kKept{60};
  /// Between two questions because an agent came from another place than what is known.
  static constexpr std::chrono::seconds kDoubted{5};

  /// `said`: what Slurm has just said; empty: it did not answer.
  SlurmNodes(const SlurmClient& client, const Clock& clock, std::vector<slurm::Node> said);

  /// One of each kind (slurm::KindsOf).
  [[nodiscard]] const std::vector<slurm::Node>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] const slurm::PartitionGpus& gpus() const noexcept { return gpus_; }
  /// NodeAddr of the node: a name or numeric; empty: Slurm has not named such a node.
  [[nodiscard]] std::string AddressOf(const std::string& node) const;
  /// Whether it is older than kKept, and nobody asks just now.
  [[nodiscard]] bool are_old() const { return AreOlderThan(kKept); }
  [[nodiscard]] bool AreOlderThan(std::chrono::seconds age) const;
  /// Asks on the pool if they are. Whoever comes meanwhile does not wait: it uses what is known.
  boost::asio::awaitable<void> Look(boost::asio::thread_pool& pool, std::chrono::seconds age = kKept);

 private:
  struct Said {
    std::vector<slurm::Node> kinds;
    std::map<std::string, std::string> addresses;
  };
  [[nodiscard]] static Said Digest(std::span<const slurm::Node> nodes);
  void Take(Said said);

  const SlurmClient& client_;
  const Clock& clock_;
  std::vector<slurm::Node> nodes_;
  std::map<std::string, std::string> addresses_;  ///< of all nodes
  slurm::PartitionGpus gpus_;                     ///< of nodes_
  std::optional<SysTime> asked_;                  ///< nothing: not yet, or in vain
};

}  // namespace trainyard::engine
