#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "control/testing/simulated_time.h"
#include "engine/slurm/slurm_client.h"

namespace trainyard::control {

/// A small Slurm for the simulation: a controller, and nodes with room for one replica each. It accepts jobs,
/// starts them when there is room, and prints them as squeue does. It has the faults of real ones: an answer
/// is lost, late or old, a controller that was killed has forgotten young jobs and reuses their ids, jobs are
/// requeued and preempted, nodes are lost. It knows only what it is told about processes. All times are true
/// ones. Loop thread only.
class SimulatedSlurm {
 public:
  struct Job {
    std::int64_t id = 0;
    std::string name;
    std::string comment;
    std::string ticket;
    std::vector<int> slots;  ///< of each component: their ids follow `id`
    std::string state = "PENDING";
    std::string ends_as;  ///< while it is COMPLETING
    std::string reason = "Priority";
    std::vector<std::string> nodes;  ///< by slot; an empty name: the node was lost
    SysTime submitted{};
    SysTime started{};
    SysTime ended{};
    int starts = 0;
    [[nodiscard]] int slot_count() const;
    [[nodiscard]] bool is_active() const { return state == "RUNNING" || state == "COMPLETING"; }
    [[nodiscard]] bool is_over() const { return !is_active() && state != "PENDING"; }
  };
  /// Starts and ends the jobs' processes.
  struct Nodes {
    virtual ~Nodes() = default;
    virtual void StartAgents(const Job& job) = 0;
    /// SIGTERM, and SIGKILL after a while.
    virtual void EndAgents(std::int64_t id) = 0;
    /// SIGKILL.
    virtual void KillAgents(std::int64_t id) = 0;
  };

  SimulatedSlurm(SimulatedTime& time, Nodes& nodes) : time_(time), nodes_(nodes) {}

  void AddNode(const std::string& node);
  /// The controller notices that the node is down. Its agents are dead by then.
  void LoseNode(const std::string& node);
  [[nodiscard]] bool has_node(const std::string& node) const { return up_.contains(node); }

  /// Starts the jobs that have room, in the order of submission. Call it now and then.
  void Schedule();
  /// No process of the job is alive any more.
  void OnEmpty(std::int64_t id);

  // Faults.
  /// The next sbatch fails after a while, although the controller accepts the job: at once, or up to `late`
  /// after the call.
  void LoseNextAnswer(std::chrono::nanoseconds late) { loses_answer_ = late; }
  void DoubleNextList() { doubles_list_ = true; }
  void CutNextList() { cuts_list_ = true; }
  /// From now on tools return up to so much later than the controller answered them.
  void SetSlow(std::chrono::nanoseconds max) { slow_max_ = max; }
  /// The controller does not answer and does nothing.
  void SetAway(bool away) { away_ = away; }
  /// The controller is killed and starts again: it forgets the jobs of the last seconds.
  void KillController();
  void Requeue(std::int64_t id);
  /// `ends_as`: "CANCELLED", "TIMEOUT" or "PREEMPTED".
  void End(std::int64_t id, const std::string& ends_as) { Stop(jobs_.at(id), ends_as); }

  [[nodiscard]] const std::map<std::int64_t, Job>& jobs() const noexcept { return jobs_; }

  // SlurmClient's functions.
  [[nodiscard]] engine::SlurmAnswer<std::int64_t> Submit(const slurm::BatchJob& batch,
                                                         const slurm::GangRequest& request);
  [[nodiscard]] engine::SlurmAnswer<std::vector<slurm::ListedJob>> List(std::optional<std::int64_t> id);
  [[nodiscard]] engine::SlurmAnswer<void> CancelJobs(const std::string& name,
                                                     std::span<const std::int64_t> ids);
  [[nodiscard]] engine::SlurmAnswer<std::vector<slurm::Node>> ListNodes();

 private:
  void Stop(Job& job, const std::string& ends_as);
  void Finish(Job& job, const std::string& state);
  std::int64_t Accept(Job job);
  void Delay();
  void Print(std::string& text, const Job& job, bool is_cut) const;

  SimulatedTime& time_;
  Nodes& nodes_;
  std::set<std::string> known_;  ///< nodes
  std::set<std::string> up_;
  std::map<std::int64_t, Job> jobs_;
  std::int64_t next_id_ = 1;
  SysTime controller_start_{};
  bool away_ = false;
  bool doubles_list_ = false;
  bool cuts_list_ = false;
  std::optional<std::chrono::nanoseconds> loses_answer_;
  std::chrono::nanoseconds slow_max_{0};
  std::multimap<SysTime, Job> coming_;  ///< submitted, and accepted later
};

/// A server's client of it.
[[nodiscard]] std::unique_ptr<engine::SlurmClient> MakeClient(SimulatedSlurm& slurm);

}  // namespace trainyard::control
