#include "engine/slurm/slurm_nodes.h"

#include <utility>

#include "async/on_pool.h"

namespace trainyard::engine {

SlurmNodes::SlurmNodes(const SlurmClient& client, const Clock& clock, std::vector<slurm::Node> said)
    : client_(client), clock_(clock) {
  if (said.empty()) return;
  Take(slurm::KindsOf(said));
  asked_ = clock_.Now();
}

bool SlurmNodes::are_old() const { return !asked_ || clock_.Now() >= *asked_ + kKept; }

void SlurmNodes::Take(std::vector<slurm::Node> nodes) {
  nodes_ = std::move(nodes);
  gpus_ = slurm::GpusByPartition(nodes_);
}

boost::asio::awaitable<void> SlurmNodes::Look(boost::asio::thread_pool& pool) {
  if (!are_old()) co_return;
  asked_ = clock_.Now();
  auto ask = [&client = client_] {
    SlurmAnswer<std::vector<slurm::Node>> nodes = client.Nodes();
    if (nodes) nodes = slurm::KindsOf(*nodes);
    return nodes;
  };
  auto nodes = co_await OnPool(pool, std::move(ask));
  if (nodes)
    Take(*std::move(nodes));
  else
    asked_.reset();
}

}  // namespace trainyard::engine
