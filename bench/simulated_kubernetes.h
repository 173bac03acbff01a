#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/async/guarded.h"
#include "cluster_simulation.h"
#include "engine/kubernetes/kube_client.h"

/// A large Kubernetes without nodes, for benchmarks: it takes Secrets and pods, and places the pods that fit.
namespace trainyard::bench {

/// The cluster's objects: a value. One thread at a time.
class SimulatedPods {
 public:
  /// One node in twenty has 8 GPUs; eight more nodes have the label pool=small.
  explicit SimulatedPods(int nodes);

  [[nodiscard]] const std::vector<kubernetes::KubeNode>& nodes() const noexcept { return nodes_; }
  /// False: it exists already.
  bool CreateSecret(const std::string& name, const std::string& ticket);
  /// What a pod takes, and of which nodes: empty, or the pool's name.
  struct Takes {
    std::string pool{};
    std::int64_t cpu_millis = 0;
    std::int64_t gpus = 0;
  };
  /// False: it exists already.
  bool CreatePod(const std::string& name, const Takes& takes);
  /// With all of its pods.
  void DeleteSecret(const std::string& name);
  /// The processes of its pods have ended by themselves.
  void Complete(const placement::Submission& submission);

  /// All pods; events until now are part of the list.
  [[nodiscard]] std::vector<kubernetes::Pod> List();
  [[nodiscard]] std::deque<engine::PodEvent> TakeEvents();
  [[nodiscard]] bool has_events() const noexcept { return !events_.empty(); }
  /// Places what fits, in the order of creation; what changed since the last call.
  [[nodiscard]] std::vector<AgentsChange> Step();
  /// While it is closed no pod gets a node.
  void SetClosed(bool closed) { closed_ = closed; }

 private:
  struct Room {
    std::int64_t cpu_millis = 0;
    std::int64_t gpus = 0;
  };
  struct OnePod {
    kubernetes::Pod pod;
    Takes takes;
    std::int64_t number = 0;  ///< in the order of creation
  };
  struct OneSecret {
    std::string ticket;
    std::set<std::string> pods{};
  };
  void PlaceIfItFits(OnePod& one);
  void End(OnePod& one);
  void Say(const kubernetes::Pod& pod, engine::PodEvent::Kind kind);
  void SayAgents(const kubernetes::Pod& pod, bool began);

  std::string installation_;
  std::vector<kubernetes::KubeNode> nodes_;
  std::map<std::string, Room> free_;  ///< by pool
  std::map<std::string, OneSecret> secrets_;
  std::map<std::string, OnePod> pods_;
  std::map<std::int64_t, std::string> pending_;
  std::deque<engine::PodEvent> events_;
  std::vector<AgentsChange> changes_;
  std::int64_t created_ = 0;
  bool closed_ = false;
};

/// For a SimulatedService. Jobs of us-east1 run on the nodes with pool=small.
class KubernetesSimulation final : public ClusterSimulation {
 public:
  KubernetesSimulation(int nodes, const Clock& clock) : shared_(nodes), clock_(clock) {}

  [[nodiscard]] Result<std::unique_ptr<engine::ClusterEngine>> Open(boost::asio::any_io_executor loop,
                                                                    const std::string& database,
                                                                    engine::RemoteAttemptHost& host) override;
  [[nodiscard]] std::string_view agent_mark() const noexcept override { return placement::kPodMark; }
  [[nodiscard]] std::vector<AgentsChange> Step(SysTime now) override;
  void Complete(const placement::Submission& submission, SysTime now) override;
  [[nodiscard]] bool is_busy() const override;
  void SetAway(bool away) override { shared_.away = away; }
  void SetClosed(bool closed) override;

  /// What the threads of the engine and the benchmark share.
  struct Shared {
    explicit Shared(int nodes) : pods(SimulatedPods(nodes)) {}
    Guarded<SimulatedPods> pods;
    std::atomic<int> under_way = 0;  ///< calls, and events on their way
    std::atomic<bool> away = false;
    std::atomic<std::int64_t> lists = 0;
    std::atomic<std::int64_t> pods_created = 0;
    std::atomic<std::int64_t> secrets_deleted = 0;
  };
  [[nodiscard]] const Shared& shared() const noexcept { return shared_; }

 private:
  Shared shared_;
  const Clock& clock_;
};

}  // namespace trainyard::bench
