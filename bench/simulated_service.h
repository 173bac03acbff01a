#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/async/task_group.h"
#include "cluster_simulation.h"
#include "engine/remote/cluster_engine.h"
#include "engine/remote/remote_attempt_host.h"

/// A real engine between a simulated cluster and simulated runners, agents included, on a simulated clock.
namespace trainyard::bench {

/// The gang of a job: the same for the same number. Of 100 some 60 are one replica, 25 four, 10 sixteen, 3
/// sixty-four; one in ten of the smaller ones has GPUs. The two others start never: one asks for GPUs that no
/// node has, one for more nodes than its partition has.
[[nodiscard]] placement::Gang SimulatedGang(std::int64_t uid);

/// Runs one loop, on the calling thread.
class SimulatedService {
 public:
  /// `cluster` and its `clock` outlive it.
  SimulatedService(std::filesystem::path database, ClusterSimulation& cluster, SimulatedClock& clock);
  ~SimulatedService();

  /// A server opens the database; one that was there has ended.
  void Open();
  /// All jobs of the previous server have asked for their room.
  void Start() { engine_->Start(); }
  /// As a runner asks for its room, and then, as it does for the job's state, what it waits for.
  void Reserve(std::int64_t uid);
  /// As a runner whose job is over, or was cancelled.
  void Release(std::int64_t uid);

  /// The clock moves, the cluster starts what fits, agents come, jobs whose time is up end.
  void Tick(std::chrono::seconds by);
  /// The same, and then everybody does what there is to do.
  void Step(std::chrono::seconds by) {
    Tick(by);
    Settle();
  }
  /// Until nothing is under way, on the loop or in the cluster.
  void Settle();
  /// What the loop has to do now; waits for nothing.
  void RunReady();
  /// The same, and waits a moment for the first of it.
  void RunSome() {
    RunOne(kQuiet);
    RunReady();
  }
  /// Jobs that get their room keep it for so long; nothing: until they are released.
  void SetRunTime(std::optional<std::chrono::seconds> time) { run_time_ = time; }

  [[nodiscard]] std::int64_t grants() const noexcept { return grants_; }
  [[nodiscard]] std::int64_t revocations() const noexcept { return revocations_; }
  [[nodiscard]] std::int64_t waits_told() const noexcept { return waits_told_; }
  [[nodiscard]] bool has_room(std::int64_t uid) const { return granted_.contains(uid); }
  /// Jobs that have asked for room and were not released.
  [[nodiscard]] const std::set<std::int64_t>& wanted() const noexcept { return wanted_; }
  /// How long the turns of the loop since the last call took: milliseconds of CPU of its thread.
  [[nodiscard]] std::vector<double> TakeTurns() { return std::exchange(turns_ms_, {}); }

 private:
  /// So long nothing has come before nothing is taken to be under way.
  static constexpr std::chrono::milliseconds kQuiet{2};

  void OnGrant(std::int64_t uid, const engine::Grant& grant);
  void RunOne(std::chrono::milliseconds wait_max);
  boost::asio::awaitable<void> Attach(std::string ticket, int slot);
  void EndAgents(const AgentsChange& change);

  boost::asio::io_context loop_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> serves_{loop_.get_executor()};
  std::filesystem::path database_;
  ClusterSimulation& cluster_;
  SimulatedClock& clock_;
  std::optional<std::chrono::seconds> run_time_;
  std::multimap<SysTime, std::int64_t> ends_;
  std::set<std::int64_t> wanted_;
  std::map<std::int64_t, engine::Grant> granted_;          ///< on record, by uid
  std::map<std::int64_t, placement::Submission> running_;  ///< of jobs whose agents began, by uid
  std::int64_t grants_ = 0;
  std::int64_t revocations_ = 0;
  std::int64_t waits_told_ = 0;
  std::vector<double> turns_ms_;
  bool idle_ = false;  ///< the last turn found nothing to do
  std::unique_ptr<engine::RemoteAttemptHost> host_;
  std::unique_ptr<engine::ClusterEngine> engine_;
  TaskGroup tasks_{loop_.get_executor()};
};

}  // namespace trainyard::bench
