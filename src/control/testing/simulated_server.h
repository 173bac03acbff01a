#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/async/task_group.h"
#include "control/job_service.h"
#include "control/testing/simulated_replicas.h"
#include "control/testing/simulated_room.h"
#include "control/testing/surroundings.h"
#include "rules/retention/clock_jumps.h"

namespace trainyard::control {

/// One server after the other on the same data: the real control loop, stores, logs and admissions. Loop
/// thread only.
class SimulatedServer {
 public:
  /// All outlive it.
  struct Outside {
    Surroundings& around;
    SimulatedReplicas& replicas;
    SimulatedRoom& room;
    JobMaker& maker;
    storage::Buckets& buckets;
    const ImageRegistries& registries;
  };
  explicit SimulatedServer(const Outside& outside);
  ~SimulatedServer();
  SimulatedServer(const SimulatedServer&) = delete;
  SimulatedServer& operator=(const SimulatedServer&) = delete;

  /// A start that fails is a violation, unless the disk is broken or locked.
  void Start();
  /// A kill -9: what is on its way to the disk does not arrive. Afterwards the disk has to be told which end
  /// it was (SimulatedDisk::ProcessEnd, PowerCut).
  void Kill();

  /// Jobs that wait are not started until it is lifted, also by the servers that follow.
  void SetDrained(bool drained);
  /// The machine starts again.
  void Reboot();

  [[nodiscard]] bool is_up() const noexcept { return life_ != nullptr && !is_ending_; }
  /// It has taken over the jobs of the previous server.
  [[nodiscard]] bool has_recovered() const noexcept;
  /// It could not take them over, and ends: it has to be killed.
  [[nodiscard]] bool has_given_up() const noexcept;
  /// How many servers there were so far.
  [[nodiscard]] int lives() const noexcept { return lives_; }

  /// Only while it is up:
  [[nodiscard]] JobService& service();
  [[nodiscard]] logs::LogStore& logs();
  [[nodiscard]] store::JobStore& reader();
  /// Runs a call of a client or a supervisor, which ends with this server.
  void Call(boost::asio::awaitable<void> work);

 private:
  struct Life;
  [[nodiscard]] Collaborators CollaboratorsOf(Life& life);
  void ApplyDrain();
  [[nodiscard]] retention::ClockReading ReadClocks() const;
  [[nodiscard]] std::chrono::nanoseconds JumpedSince(SysTime since);
  boost::asio::awaitable<void> Recover(Life& life);
  boost::asio::awaitable<void> ReconnectLater(std::string attempt_id);

  Outside outside_;
  Settings settings_;
  bool is_ending_ = false;
  std::unique_ptr<Life> life_;  ///< null: killed
  int lives_ = 0;
  bool is_drained_ = false;
  SysTime booted_;  ///< true time
  int boots_ = 1;
  std::optional<retention::ClockHistory> clock_history_;  ///< what servers know of jumps of the clock
};

}  // namespace trainyard::control
