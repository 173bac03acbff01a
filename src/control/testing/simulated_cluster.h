#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "control/testing/simulated_slurm.h"
#include "control/testing/simulated_time.h"
#include "engine/agent/testing/simulated_agent.h"
#include "engine/fake/fake_attempt_host.h"
#include "engine/remote/agent_session.h"
#include "engine/remote/remote_attempt_host.h"
#include "engine/slurm/slurm_engine.h"

namespace trainyard::control {

/// A cluster for the simulation: a simulated Slurm with its nodes and agents, which outlives servers, and the
/// real engine, attempt host and agents' sessions of each server. Loop thread only.
class SimulatedCluster final : SimulatedSlurm::Nodes {
 public:
  /// What the world does for the cluster. All are called while it acts.
  struct World {
    boost::asio::io_context& loop;
    SimulatedTime& time;
    engine::FakeAttemptHost& replicas;  ///< of all nodes
    std::function<void(std::string line)> say;
    std::function<void(const std::string& attempt_id)> lose;       ///< as in SimulatedAgent::World
    std::function<void(const std::string& attempt_id)> shut_down;  ///< as in SimulatedAgent::World
    /// Whether the job may now end as if a user had cancelled it; false: it is not known now.
    std::function<bool(std::int64_t job_uid)> may_cancel;
  };
  /// A server's part of it.
  class Server {
   public:
    [[nodiscard]] engine::SlurmEngine& engine() noexcept { return *engine_; }
    [[nodiscard]] engine::AttemptHost& host() noexcept { return host_; }
    /// Its connections end. Call it first when a server ends.
    void Disconnect() { sessions_.reset(); }

   private:
    friend class SimulatedCluster;
    explicit Server(const boost::asio::any_io_executor& loop);
    engine::RemoteAttemptHost host_;
    std::unique_ptr<engine::SlurmEngine> engine_;
    std::optional<engine::AgentDesk> desk_;
    std::unique_ptr<TaskGroup> sessions_;
  };

  SimulatedCluster(World world, std::vector<std::string> nodes);
  ~SimulatedCluster() override;

  /// `database`: of the engine. Errors: those of the database.
  [[nodiscard]] Result<std::unique_ptr<Server>> Open(const std::string& database);
  /// From now on agents reach this server; call it once it has taken over its jobs. Null: there is none.
  void Serve(Server* server);

  /// One of the faults of a cluster, by the seed.
  void HaveFault();
  /// Everything is repaired, and stays so.
  void StopFaults();
  /// Whether the attempt's supervisor reaches the server: through its agent.
  [[nodiscard]] bool Reaches(const std::string& attempt_id) const;
  /// What is left in Slurm and on the nodes; empty: nothing.
  [[nodiscard]] std::string Left() const;
  /// The promise that does not hold now; empty: all do.
  [[nodiscard]] std::string Broken() const;

 private:
  using Agent = std::shared_ptr<agent::SimulatedAgent>;
  void StartAgents(const SimulatedSlurm::Job& job) override;
  void WarnAgents(std::int64_t id) override;
  void EndAgents(std::int64_t id) override;
  void KillAgents(std::int64_t id) override;

  boost::asio::awaitable<void> Schedule();
  boost::asio::awaitable<void> Live(Agent agent);
  boost::asio::awaitable<void> NoticeLostNode(std::string node);
  boost::asio::awaitable<void> ReachTimeLimit(std::int64_t id);
  boost::asio::awaitable<void> KillSlowAgents(std::int64_t id);
  std::unique_ptr<engine::SimulatedLine> Connect(const std::string& node);
  void StartAgent(const SimulatedSlurm::Job& job, int slot);
  void LoseNode();
  void StartTwice();
  void CancelOne();
  void LimitOne();
  template <class Is>
  [[nodiscard]] std::optional<std::int64_t> OneOf(const Is& is);
  [[nodiscard]] Agent OneAgent();
  [[nodiscard]] std::vector<Agent> AgentsOf(std::int64_t id) const;
  [[nodiscard]] std::size_t Below(std::size_t bound) {
    return static_cast<std::size_t>(world_.time.random()() % bound);
  }

  World world_;
  std::vector<std::string> nodes_;
  SimulatedSlurm slurm_;
  agent::SimulatedAgent::World around_agents_;
  struct NoWorker final : agent::Uplink::Observer {
    boost::asio::awaitable<agent::v1::FromAgent::Hello> MakeHello(std::string) override;
    boost::asio::awaitable<void> OnWelcome(agent::v1::ToAgent::Welcome) override;
    void OnWelcomed() override {}
    void OnFrame(agent::v1::ToAgent, std::shared_ptr<agent::ControlStream>) override {}
  };
  NoWorker no_worker_;
  agent::Uplink no_uplink_;
  Server* server_ = nullptr;
  std::set<std::string> down_;  ///< nodes without power
  std::vector<Agent> agents_;   ///< that live
  std::vector<Agent> ended_;    ///< kept, since what they began may end a moment later
  int instances_ = 0;
  TaskGroup tasks_;
};

}  // namespace trainyard::control
