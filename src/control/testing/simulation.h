#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/testing/coverage.h"
#include "control/testing/schedule.h"
#include "control/testing/simulated_clients.h"
#include "control/testing/simulated_registry.h"
#include "control/testing/simulated_replicas.h"
#include "control/testing/simulated_room.h"
#include "control/testing/simulated_server.h"
#include "control/testing/simulated_wire.h"
#include "control/testing/surroundings.h"

namespace trainyard::control {

/// One schedule of a whole server: the real control loop, journal, log store, admissions and engine of this
/// machine, on a simulated disk and in simulated time; a simulated machine with the attempts, which outlive
/// the server; clients that keep a ledger of every answer. Everything that happens depends on the schedule
/// alone.
class Simulation {
 public:
  struct Options {
    Story::Listener listener{};    ///< to the story of the schedule
    Coverage* coverage = nullptr;  ///< gets what was met, unless a promise was broken
    bool disk_lies = false;  ///< it does not write what it says is synced: for the simulation's own test
  };
  /// `ground` and `options.coverage` outlive it.
  Simulation(SimulationGround& ground, Schedule schedule, Options options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Clients work and faults happen for a while; then the faults stop and everything must end. Returns the
  /// violations, one sentence each.
  std::vector<std::string> Run();

  /// For actions:
  [[nodiscard]] Surroundings& around() noexcept { return around_; }
  [[nodiscard]] SimulatedServer& server() noexcept { return *server_; }
  [[nodiscard]] SimulatedClients& clients() noexcept { return *clients_; }
  [[nodiscard]] SimulatedReplicas& replicas() noexcept { return *replicas_; }
  [[nodiscard]] SimulatedRoom& room() noexcept { return *room_; }
  [[nodiscard]] SimulatedRegistry& registry() noexcept { return registry_; }
  /// One of the jobs that clients have asked for; the one whose stage the action has waited for, if it has.
  [[nodiscard]] std::string SomeJob(ActionRandom& random) const;
  /// How a server ends, which does not end by itself.
  enum class End { kKill, kPowerCut };
  void KillServer();
  /// The server and all attempts end, and what is not synced is lost.
  void CutPower();
  /// One of the two happens after so many further writes and syncs of the databases, unless it happens before
  /// for another reason.
  void KillAtWrite(int writes, End end);

 private:
  void Act(const PlannedAction& planned);
  void Perform(const Action& action, ActionRandom& random, int number);
  void StartServer(ActionRandom& random);
  void EndServer();
  void EndFaults();
  /// The jobs in that stage; none while no server runs.
  [[nodiscard]] std::set<std::string> JobsIn(jobs::Stage stage) const;
  /// Until a job is in that stage; a while at most.
  void WaitFor(jobs::Stage stage);
  /// One step of anybody.
  void Step();
  void Settle();
  [[nodiscard]] bool HasEnded();
  void ViolateUnended();
  void AddTrials(JobOutcome& outcome, SysTime asked_at);
  void Meet(const JobHistory& history, SysTime asked_at);
  void CheckEnd();

  Schedule schedule_;
  Coverage* coverage_;
  Surroundings around_;
  SimulatedRegistry registry_;
  std::unique_ptr<JobMaker> maker_;
  std::unique_ptr<SimulatedRoom> room_;
  std::unique_ptr<SimulatedReplicas> replicas_;
  std::unique_ptr<SimulatedServer> server_;
  std::unique_ptr<SimulatedWire> wire_;
  std::unique_ptr<SimulatedClients> clients_;
  std::optional<End> end_at_write_;
  std::string awaited_job_;  ///< that the present action has waited for
};

}  // namespace trainyard::control
