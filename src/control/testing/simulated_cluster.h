#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task_group.h"
#include "control/testing/simulated_replicas.h"
#include "control/testing/simulated_room.h"
#include "control/testing/simulated_slurm.h"
#include "control/testing/surroundings.h"
#include "engine/agent/testing/simulated_agent.h"
#include "engine/fake/fake_attempt_host.h"

namespace trainyard::control {

/// A cluster of three nodes with a simulated Slurm and simulated agents, which outlive servers. Each server
/// has the real engine for Slurm, and the real sessions of agents and attempt host. It checks that a slot has
/// one agent, and that a gang starts as a whole. Loop thread only.
class SimulatedCluster final : public SimulatedRoom,
                               private SimulatedSlurm::Nodes,
                               private agent::SimulatedAgent::World {
 public:
  /// Both outlive it.
  SimulatedCluster(Surroundings& around, SimulatedReplicas& replicas);
  ~SimulatedCluster() override;

  // SimulatedRoom
  [[nodiscard]] std::string_view name() const override { return placement::kSlurmEngine; }
  Status Open() override;
  engine::Engine& StartEngine() override;
  [[nodiscard]] engine::AttemptHosts Hosts(engine::AttemptHost* here) override;
  void ServerHasRecovered() override;
  void Disconnect() override;
  void ServerEnds() override;
  [[nodiscard]] bool is_this_machine() const override { return false; }
  [[nodiscard]] bool Reaches(const std::string& attempt_id) const override;
  [[nodiscard]] std::string Left() const override;
  [[nodiscard]] std::vector<std::string> Nodes() const override;
  [[nodiscard]] bool IsUp(const std::string& node) const override { return !down_.contains(node); }
  /// It has no power. Slurm notices that later.
  void LoseNode(const std::string& node) override;
  void ReturnNode(const std::string& node) override;
  [[nodiscard]] SimulatedCluster* slurm_cluster() override { return this; }

  [[nodiscard]] SimulatedSlurm& slurm() noexcept { return slurm_; }

  // For faults. Jobs and agents are named, so that an action picks the same one whether or not others are
  // left out; the names of agents are "JOB/SLOT on NODE".
  [[nodiscard]] std::vector<std::string> WaitingJobs() const;
  [[nodiscard]] std::vector<std::string> RunningJobs() const;
  [[nodiscard]] std::vector<std::string> Agents() const;
  /// The uid of the job that the Slurm job is for.
  [[nodiscard]] static std::int64_t UidOf(const std::string& slurm_job);
  [[nodiscard]] static std::int64_t IdOf(const std::string& slurm_job);
  /// The agents are told that the time limit is near, and after up to 40 s it is reached.
  void LimitJob(const std::string& slurm_job);
  /// The cluster starts one of its agents a second time.
  void StartTwice(const std::string& slurm_job);
  /// All processes of the slot are killed.
  void KillAgent(const std::string& agent);
  void CutAgent(const std::string& agent);
  /// Nothing from or to the agent arrives for that time.
  void SilenceAgent(const std::string& agent, std::chrono::milliseconds duration);

 private:
  using Agent = std::shared_ptr<agent::SimulatedAgent>;
  struct Server;

  // SimulatedSlurm::Nodes
  void StartAgents(const SimulatedSlurm::Job& job) override;
  void EndAgents(std::int64_t id) override;
  void KillAgents(std::int64_t id) override;

  // agent::SimulatedAgent::World
  [[nodiscard]] const trainyard::Clock& clock() const override { return clock_; }
  [[nodiscard]] std::size_t Below(std::size_t bound) override { return around_.Below(bound); }
  [[nodiscard]] std::unique_ptr<agent::AgentLine> Connect(const std::string& node) override;
  void OnHello(const agent::SimulatedAgent& agent) override;
  void OnWelcome(const agent::SimulatedAgent& agent) override;
  void OnRefused(const agent::SimulatedAgent& agent, const std::string& reason) override;
  void OnStart(const agent::SimulatedAgent& agent) override;
  [[nodiscard]] engine::AttemptHost& replicas() override { return *host_; }
  [[nodiscard]] std::vector<std::string> Alive() override { return replicas_.Alive(); }
  void Kill(const std::string& attempt_id) override;
  void ShutDown(const std::string& attempt_id) override { replicas_.machine().ShutDown(attempt_id, false); }
  void Reconnect(const std::string& attempt_id) override { replicas_.machine().Reconnect(attempt_id); }

  boost::asio::awaitable<void> Schedule();
  boost::asio::awaitable<void> Live(Agent agent);
  boost::asio::awaitable<void> NoticeLostNode(std::string node);
  boost::asio::awaitable<void> ReachTimeLimit(std::string slurm_job);
  boost::asio::awaitable<void> KillSlowAgents(std::int64_t id);
  void StartAgent(const SimulatedSlurm::Job& job, int slot);
  [[nodiscard]] std::vector<std::string> JobsIn(std::string_view state) const;
  [[nodiscard]] Agent FindAgent(const std::string& name) const;
  [[nodiscard]] std::vector<Agent> AgentsOf(std::int64_t id) const;

  /// Clusters have correct clocks.
  struct TrueClock final : public trainyard::Clock {
    explicit TrueClock(const SimulatedTime& used_time) : time(used_time) {}
    [[nodiscard]] SysTime Now() const override { return time.TrueNow(); }
    const SimulatedTime& time;
  };
  struct NoWorker final : agent::Uplink::Observer {
    boost::asio::awaitable<agent::v1::FromAgent::Hello> MakeHello(std::string) override;
    boost::asio::awaitable<void> OnWelcome(agent::v1::ToAgent::Welcome) override;
    void OnWelcomed() override {}
    void OnFrame(agent::v1::ToAgent, std::shared_ptr<agent::ControlStream>) override {}
  };

  Surroundings& around_;
  SimulatedReplicas& replicas_;
  TrueClock clock_;
  SimulatedSlurm slurm_;
  std::unique_ptr<engine::SimulatedAttemptHost> host_;  ///< of all nodes
  engine::FakeAttemptHost nobody_;                      ///< the server's own machine, on which nothing runs
  NoWorker no_worker_;
  agent::Uplink no_uplink_;  ///< SimulatedAgent: not used
  std::unique_ptr<Server> server_;
  bool is_serving_ = false;
  std::set<std::string> down_;                    ///< nodes without power
  std::vector<Agent> agents_;                     ///< those that live
  std::vector<Agent> ended_;                      ///< kept, since tasks that they began may end later
  std::map<std::string, std::set<int>> reached_;  ///< by ticket: the slots whose agents have connected
  int instances_ = 0;
  TaskGroup tasks_;
};

}  // namespace trainyard::control
