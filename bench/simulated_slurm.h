#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/async/guarded.h"
#include "base/clock.h"
#include "cluster_simulation.h"
#include "engine/slurm/slurm_client.h"

/// A large Slurm without nodes, for benchmarks: it takes jobs, lists them as squeue prints them, and starts
/// them in their order.
namespace trainyard::bench {

/// What it counts of its own work.
struct SimulatedCalls {
  int under_way = 0;
  std::int64_t submissions = 0;
  std::int64_t lists = 0;
  std::int64_t lists_of_one = 0;
  std::int64_t cancels = 0;
  double list_seconds = 0;  ///< CPU of printing and reading all whole lists
};

/// The cluster's state: a value. One thread at a time.
class SimulatedCluster {
 public:
  /// One node in twenty has 8 GPUs; eight more nodes are the partition "small".
  explicit SimulatedCluster(int nodes);

  /// As `sinfo -N` prints them.
  [[nodiscard]] const std::string& nodes() const noexcept { return nodes_text_; }
  std::int64_t Submit(const slurm::BatchJob& batch, const slurm::GangRequest& request);
  /// As squeue prints them. With `id` that job alone.
  [[nodiscard]] std::string Print(std::optional<std::int64_t> id) const;
  void Cancel(const std::string& name, std::span<const std::int64_t> ids, SysTime now);

  /// A job that began, or that ended while it ran.
  struct Change {
    std::int64_t id = 0;
    slurm::Submission submission;
    std::string ticket;
    int slots = 0;
    bool began = false;
  };
  /// Starts what fits, in the order of submission; forgets what ended long ago; says what changed since the
  /// last call.
  [[nodiscard]] std::vector<Change> Step(SysTime now);
  /// The job's agents have left by themselves.
  void Complete(std::int64_t id, SysTime now);
  /// While the partition is closed nothing starts, and all that wait say so.
  void SetClosed(bool closed) { closed_ = closed; }

 private:
  struct Room {
    std::int64_t cpus = 0;
    std::int64_t gpus = 0;
  };
  struct Job {
    std::string name;
    std::string comment;
    slurm::JobState state = slurm::JobState::kPending;
    slurm::Submission submission;
    std::string ticket;
    int slots = 0;
    Room takes;
    bool fits = false;
  };
  void PrintOne(std::string& text, std::int64_t id, const Job& job) const;
  void End(std::int64_t id, slurm::JobState state, SysTime now);
  [[nodiscard]] bool HasRoomFor(const Room& takes) const;

  std::string nodes_text_;
  Room free_;
  std::map<std::int64_t, Job> jobs_;
  std::set<std::int64_t> pending_;
  std::set<std::int64_t> never_;  ///< that wait for ever
  std::map<SysTime, std::vector<std::int64_t>> ended_;
  std::vector<Change> changes_;
  bool closed_ = false;
  std::int64_t next_id_ = 1;
};

/// What the threads of the engine and the benchmark share.
struct SimulatedSlurm {
  SimulatedSlurm(int nodes, const Clock& used) : cluster(SimulatedCluster(nodes)), clock(used) {}

  Guarded<SimulatedCluster> cluster;
  Guarded<SimulatedCalls> calls;
  Guarded<bool> away{false};  ///< the controller does not answer
  const Clock& clock;
};

/// Asks the simulated Slurm. `slurm` outlives it. Any thread.
class SimulatedClient final : public engine::SlurmClient {
 public:
  explicit SimulatedClient(SimulatedSlurm& slurm) : slurm_(slurm) {}

  [[nodiscard]] engine::SlurmAnswer<std::int64_t> Submit(const slurm::BatchJob& batch,
                                                         const slurm::GangRequest& request) const override;
  [[nodiscard]] engine::SlurmAnswer<std::vector<slurm::ListedJob>> List(
      std::optional<std::int64_t> id) const override;
  [[nodiscard]] engine::SlurmAnswer<void> Cancel(const std::string& name,
                                                 std::span<const std::int64_t> ids) const override;
  [[nodiscard]] engine::SlurmAnswer<void> Check(const slurm::Options&) const override { return {}; }
  [[nodiscard]] engine::SlurmAnswer<std::vector<slurm::Node>> Nodes() const override;

 private:
  SimulatedSlurm& slurm_;
};

/// The same for a SimulatedService. In the partition "small" jobs of us-east1 run.
class SlurmSimulation final : public ClusterSimulation {
 public:
  SlurmSimulation(int nodes, const Clock& clock) : slurm_(nodes, clock) {}

  [[nodiscard]] Result<std::unique_ptr<engine::ClusterEngine>> Open(boost::asio::any_io_executor loop,
                                                                    const std::string& database,
                                                                    engine::RemoteAttemptHost& host) override;
  [[nodiscard]] std::string_view agent_mark() const noexcept override { return {}; }
  [[nodiscard]] std::vector<AgentsChange> Step(SysTime now) override;
  void Complete(const placement::Submission& submission, SysTime now) override;
  [[nodiscard]] bool is_busy() const override;
  void SetAway(bool away) override;
  void SetClosed(bool closed) override;

  [[nodiscard]] SimulatedSlurm& slurm() noexcept { return slurm_; }

 private:
  SimulatedSlurm slurm_;
  std::map<placement::Submission, std::int64_t> running_;  ///< their ids
};

}  // namespace trainyard::bench
