#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/attempt_hosts.h"
#include "engine/engine.h"
#include "engine/fake/fake_engine.h"
#include "engine/local/local_engine.h"

namespace trainyard::control {

class SimulatedCluster;
class SimulatedReplicas;
struct Surroundings;

/// Gives slots to the jobs of a simulated server: one implementation for each kind of world. Loop thread
/// only.
class SimulatedRoom {
 public:
  virtual ~SimulatedRoom() = default;
  /// Its name in quotas.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Opens what the engine of a server that starts needs. Errors: those of a database.
  virtual Status Open() { return {}; }
  /// The engine of that server; it lives until ServerEnds.
  virtual engine::Engine& StartEngine() = 0;
  /// The attempt hosts of that server. `here`: of its own machine, if that runs attempts.
  [[nodiscard]] virtual engine::AttemptHosts Hosts(engine::AttemptHost* here) { return {.here = *here}; }
  /// The server is being killed: its connections end.
  virtual void Disconnect() {}
  /// The server is killed; its own objects are gone.
  virtual void ServerEnds() = 0;
  /// The server has taken over its jobs.
  virtual void ServerHasRecovered() = 0;
  /// Whether its attempts run on the server's machine, and end with it.
  [[nodiscard]] virtual bool is_this_machine() const { return true; }
  /// Whether the attempt's supervisor can connect to a server.
  [[nodiscard]] virtual bool Reaches(const std::string&) const { return true; }
  /// Names the things that are left of jobs that have ended, for a message; empty: nothing is left.
  [[nodiscard]] virtual std::string Left() const { return {}; }
  /// Null in a world without Slurm.
  [[nodiscard]] virtual SimulatedCluster* slurm_cluster() { return nullptr; }
  /// The names of nodes that can be lost and come back.
  [[nodiscard]] virtual std::vector<std::string> Nodes() const { return {}; }
  [[nodiscard]] virtual bool IsUp(const std::string& node) const = 0;
  virtual void LoseNode(const std::string& node) = 0;
  /// Does nothing for a node that is up.
  virtual void ReturnNode(const std::string& node) = 0;
};

/// By seed. `around` and `replicas` outlive it.
[[nodiscard]] std::unique_ptr<SimulatedRoom> MakeRoom(Surroundings& around, SimulatedReplicas& replicas,
                                                      std::uint64_t seed);

/// This machine's own slots.
class MachineRoom final : public SimulatedRoom {
 public:
  explicit MachineRoom(boost::asio::any_io_executor loop) : loop_(std::move(loop)) {}
  [[nodiscard]] std::string_view name() const override { return placement::kLocalEngine; }
  engine::Engine& StartEngine() override;
  void ServerEnds() override { engine_.reset(); }
  void ServerHasRecovered() override {}
  [[nodiscard]] bool IsUp(const std::string&) const override { return true; }
  void LoseNode(const std::string&) override {}
  void ReturnNode(const std::string&) override {}

 private:
  boost::asio::any_io_executor loop_;
  std::unique_ptr<engine::LocalEngine> engine_;
};

/// A cluster with a queue of its own, which outlives the server.
class ClusterRoom final : public SimulatedRoom {
 public:
  explicit ClusterRoom(boost::asio::any_io_executor loop);
  [[nodiscard]] std::string_view name() const override { return placement::kSlurmEngine; }
  engine::Engine& StartEngine() override { return engine_; }
  void ServerEnds() override {}
  void ServerHasRecovered() override { engine_.ReturnUnrequested(); }
  [[nodiscard]] std::vector<std::string> Nodes() const override;
  [[nodiscard]] bool IsUp(const std::string& node) const override { return up_.contains(node); }
  void LoseNode(const std::string& node) override;
  void ReturnNode(const std::string& node) override;

 private:
  engine::FakeEngine engine_;
  std::set<std::string> up_;
};

}  // namespace trainyard::control
