#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "control/testing/simulated_time.h"
#include "engine/slurm/slurm_client.h"

namespace trainyard::control {

/// A small Slurm for the simulation, with a controller, and nodes that have room for one replica each: it
/// takes jobs, starts them when there is room, and prints them as squeue does. It does what real ones do:
/// loses an answer, answers late or not at all, forgets young jobs when its controller is killed and gives
/// their ids away again, requeues, and loses nodes. It knows processes only by what it is told. Loop thread
/// only.
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
    std::vector<std::string> nodes;  ///< by slot; empty: not there any more
    SysTime submitted{};
    SysTime started{};
    SysTime ended{};
    int starts = 0;
    [[nodiscard]] int slot_count() const;
    [[nodiscard]] bool is_active() const { return state == "RUNNING" || state == "COMPLETING"; }
    [[nodiscard]] bool is_over() const { return !is_active() && state != "PENDING"; }
  };
  /// What the nodes have to do.
  struct Nodes {
    virtual ~Nodes() = default;
    virtual void StartAgents(const Job& job) = 0;
    /// The time limit is near.
    virtual void WarnAgents(std::int64_t id) = 0;
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

  /// Starts what has room, in the order of submission. Call it now and then.
  void Schedule();
  /// No process of the job lives any more.
  void OnEmpty(std::int64_t id);

  // Faults.
  void LoseNextAnswer() { loses_answer_ = true; }
  void DelayAnswers(int count, std::chrono::nanoseconds max);
  void DoubleNextList() { doubles_list_ = true; }
  void CutNextList() { cuts_list_ = true; }
  void SetAway(bool away) { away_ = away; }
  [[nodiscard]] bool away() const noexcept { return away_; }
  /// The controller is killed and starts again: it forgets the jobs of the last seconds.
  void KillController();
  void Requeue(std::int64_t id);
  void Cancel(std::int64_t id);
  void ReachTimeLimit(std::int64_t id);
  void StopFaults();

  [[nodiscard]] const std::map<std::int64_t, Job>& jobs() const noexcept { return jobs_; }

  // What its tools do. SlurmClient's functions.
  [[nodiscard]] engine::SlurmAnswer<std::int64_t> Submit(const slurm::BatchJob& batch,
                                                         const slurm::GangRequest& request);
  [[nodiscard]] engine::SlurmAnswer<std::vector<slurm::ListedJob>> List(std::optional<std::int64_t> id);
  [[nodiscard]] engine::SlurmAnswer<void> CancelJobs(const std::string& name,
                                                     std::span<const std::int64_t> ids);
  [[nodiscard]] engine::SlurmAnswer<std::vector<slurm::Node>> ListNodes();

 private:
  void Stop(Job& job, const std::string& ends_as);
  void End(Job& job, const std::string& state);
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
  bool loses_answer_ = false;
  bool doubles_list_ = false;
  bool cuts_list_ = false;
  int late_ = 0;  ///< how many answers come late
  std::chrono::nanoseconds late_max_{};
};

/// A server's client of it.
[[nodiscard]] std::unique_ptr<engine::SlurmClient> MakeClient(SimulatedSlurm& slurm);

}  // namespace trainyard::control
