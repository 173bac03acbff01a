#include "engine/slurm/slurm_nodes.h"

#include <utility>

#include "base/async/on_pool.h"

namespace trainyard::engine {

SlurmNodes::SlurmNodes(const SlurmClient& client, const Clock& clock, std::vector<slurm::Node> said)
    : client_(client), clock_(clock) {
  if (said.empty()) return;
  Take(Digest(said));
  asked_ = clock_.Now();
}

bool SlurmNodes::AreOlderThan(std::chrono::seconds age) const {
  return !asked_ || clock_.Now() >= *asked_ + age;
}

std::string SlurmNodes::AddressOf(const std::string& node) const {
  const auto found = addresses_.find(node);
  return found == addresses_.end() ? "" : found->second;
}

SlurmNodes::Summary SlurmNodes::Digest(std::span<const slurm::Node> nodes) {
  Summary said{.kinds = slurm::KindsOf(nodes), .addresses = {}};
  for (const slurm::Node& node : nodes) said.addresses.emplace(node.name, node.address);
  return said;
}

void SlurmNodes::Take(Summary said) {
  nodes_ = std::move(said.kinds);
  addresses_ = std::move(said.addresses);
  gpus_ = slurm::GpusByPartition(nodes_);
}

boost::asio::awaitable<void> SlurmNodes::Look(boost::asio::thread_pool& pool, std::chrono::seconds age) {
  if (!AreOlderThan(age)) co_return;
  asked_ = clock_.Now();
  auto ask = [&client = client_]() -> SlurmAnswer<Summary> {
    const SlurmAnswer<std::vector<slurm::Node>> nodes = client.Nodes();
    if (!nodes) return std::unexpected(nodes.error());
    return Digest(*nodes);
  };
  auto said = co_await OnPool(pool, std::move(ask));
  if (said)
    Take(*std::move(said));
  else
    asked_.reset();
}

}  // namespace trainyard::engine
