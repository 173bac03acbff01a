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

/// The nodes of a cluster and their resources, according to Slurm's last answer. Loop thread only; the
/// constructor's references outlive it.
class SlurmNodes {
 public:
  /// How long an answer is used: nodes do not change often.
  static constexpr std::chrono::seconds kKept{60};
  /// The pause between two queries that are made because an agent connected from an unexpected address.
  static constexpr std::chrono::seconds kDoubted{5};

  /// `said`: Slurm's answer, just now; empty: it did not answer.
  SlurmNodes(const SlurmClient& client, const Clock& clock, std::vector<slurm::Node> said);

  /// One node of each kind (slurm::KindsOf).
  [[nodiscard]] const std::vector<slurm::Node>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] const slurm::PartitionGpus& gpus() const noexcept { return gpus_; }
  /// NodeAddr of the node, a name or a numeric address; empty: Slurm has reported no such node.
  [[nodiscard]] std::string AddressOf(const std::string& node) const;
  /// Whether the answer is older than kKept, and no query is under way.
  [[nodiscard]] bool are_old() const { return AreOlderThan(kKept); }
  [[nodiscard]] bool AreOlderThan(std::chrono::seconds age) const;
  /// Asks Slurm, on the pool, if the answer is older than `age`. Other callers do not wait meanwhile: they
  /// use the old answer.
  boost::asio::awaitable<void> Look(boost::asio::thread_pool& pool, std::chrono::seconds age = kKept);

 private:
  struct Summary {
    std::vector<slurm::Node> kinds;
    std::map<std::string, std::string> addresses;
  };
  [[nodiscard]] static Summary Digest(std::span<const slurm::Node> nodes);
  void Take(Summary said);

  const SlurmClient& client_;
  const Clock& clock_;
  std::vector<slurm::Node> nodes_;
  std::map<std::string, std::string> addresses_;  ///< of all nodes
  slurm::PartitionGpus gpus_;                     ///< of nodes_
  std::optional<SysTime> asked_;  ///< when Slurm was last asked; empty: never, or without an answer
};

}  // namespace trainyard::engine
