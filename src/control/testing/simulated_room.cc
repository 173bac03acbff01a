#include "control/testing/simulated_room.h"

#include <utility>

#include "control/testing/schedule.h"
#include "control/testing/simulated_cluster.h"

namespace trainyard::control {
namespace {

constexpr int kReplicasOfNode = 1;

/// For three replicas at a time.
engine::LocalEngine::Options SmallMachine() {
  return {.capacity = {.mode = placement::Capacity::Mode::kStrict,
                       .cpus = 12,
                       .memory_bytes = std::int64_t{1} << 40},
          .probe = [](int) { return true; }};
}

}  // namespace

std::unique_ptr<SimulatedRoom> MakeRoom(Surroundings& around, SimulatedReplicas& replicas,
                                        std::uint64_t seed) {
  switch (WorldOf(seed)) {
    case WorldKind::kMachine: break;
    case WorldKind::kCluster: return std::make_unique<ClusterRoom>(around.loop.get_executor());
    case WorldKind::kSlurm: return std::make_unique<SimulatedCluster>(around, replicas);
  }
  return std::make_unique<MachineRoom>(around.loop.get_executor());
}

engine::Engine& MachineRoom::StartEngine() {
  engine_ = std::make_unique<engine::LocalEngine>(loop_, SmallMachine());
  return *engine_;
}

ClusterRoom::ClusterRoom(boost::asio::any_io_executor loop) : engine_(std::move(loop)) {
  for (const std::string& node : Nodes()) ReturnNode(node);
}

std::vector<std::string> ClusterRoom::Nodes() const { return {"node-1", "node-2", "node-3"}; }

void ClusterRoom::LoseNode(const std::string& node) {
  if (up_.erase(node) != 0) engine_.LoseNode(node);
}

void ClusterRoom::ReturnNode(const std::string& node) {
  if (up_.insert(node).second) engine_.AddNode(node, kReplicasOfNode);
}

}  // namespace trainyard::control
