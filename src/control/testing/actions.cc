#include <string>
#include <vector>

#include "control/testing/schedule.h"
#include "control/testing/simulation.h"

namespace trainyard::control {
namespace {

constexpr std::size_t kJobsMax = 6;

void StartServer(Simulation& simulation, ActionRandom&, int) {
  if (!simulation.server().is_up()) simulation.server().Start();
}

void KillServer(Simulation& simulation, ActionRandom&, int) { simulation.KillServer(); }

void CutPower(Simulation& simulation, ActionRandom&, int) { simulation.CutPower(); }

void KillSupervisor(Simulation& simulation, ActionRandom& random, int) {
  const std::string attempt_id = random.Pick(simulation.replicas().Alive());
  if (attempt_id.empty()) return;
  simulation.around().story.Say("the supervisor of ", attempt_id, " is killed");
  simulation.replicas().Lose(attempt_id);
}

void BreakConnection(Simulation& simulation, ActionRandom& random, int) {
  const std::string attempt_id = random.Pick(simulation.replicas().Alive());
  if (!attempt_id.empty()) simulation.replicas().Reconnect(attempt_id);
}

void FillDisk(Simulation& simulation, ActionRandom&, int) {
  simulation.around().story.Say("the disk is full");
  simulation.around().disk.SetFull(true);
}

void FreeDisk(Simulation& simulation, ActionRandom&, int) {
  simulation.around().story.Say("the disk has space");
  simulation.around().disk.SetFull(false);
}

/// Or it comes back, if it was lost.
void LoseNode(Simulation& simulation, ActionRandom& random, int) {
  SimulatedRoom& room = simulation.room();
  const std::string node = random.Pick(room.Nodes());
  if (node.empty()) return;
  const bool is_up = room.IsUp(node);
  simulation.around().story.Say(node, is_up ? " is lost" : " is back");
  if (!is_up) return room.ReturnNode(node);
  room.LoseNode(node);
  simulation.replicas().LoseNode(node);
}

void CreateJob(Simulation& simulation, ActionRandom& random, int number) {
  if (simulation.around().ledgers.size() >= kJobsMax) return;
  JobLedger ledger;
  ledger.exit_code = random.Below(6) == 0 ? 1 : 0;
  ledger.lines = static_cast<int>(random.Below(4));
  const auto workers = static_cast<int>(random.Below(3));
  simulation.clients().Create("job_" + std::to_string(number), workers, ledger);
}

void CancelJob(Simulation& simulation, ActionRandom& random, int) {
  const std::string job_id = random.Pick(simulation.clients().Jobs());
  if (!job_id.empty()) simulation.clients().Cancel(job_id);
}

void RelabelJob(Simulation& simulation, ActionRandom& random, int number) {
  const std::string job_id = random.Pick(simulation.clients().Jobs());
  if (!job_id.empty()) simulation.clients().Relabel(job_id, std::to_string(number));
}

void MoveReplica(Simulation& simulation, ActionRandom& random, int) {
  const std::string attempt_id = random.Pick(simulation.replicas().Alive());
  if (attempt_id.empty()) return;
  simulation.clients().Maintain(simulation.replicas().JobOf(attempt_id), attempt_id);
}

void EndProgram(Simulation& simulation, ActionRandom& random, int) {
  const std::string attempt_id = random.Pick(simulation.replicas().Running());
  if (!attempt_id.empty()) simulation.replicas().EndProgram(attempt_id);
}

constexpr bool kFault = true;
constexpr bool kNoFault = false;
constexpr bool kAtServer = true;
constexpr bool kAnyTime = false;

constexpr Action kActions[] = {
    {"the server starts", 1, kNoFault, kAnyTime, StartServer},
    {"the server is killed", 2, kFault, kAtServer, KillServer},
    {"the machine loses its power", 1, kFault, kAnyTime, CutPower},
    {"a supervisor is killed", 1, kFault, kAnyTime, KillSupervisor},
    {"a connection breaks", 2, kFault, kAnyTime, BreakConnection},
    {"the disk is full", 1, kFault, kAnyTime, FillDisk},
    {"the disk has space", 3, kNoFault, kAnyTime, FreeDisk},
    {"a node is lost", 1, kFault, kAnyTime, LoseNode},
    {"a client creates a job", 4, kNoFault, kAtServer, CreateJob},
    {"a client cancels a job", 2, kNoFault, kAtServer, CancelJob},
    {"a client changes a label", 1, kNoFault, kAtServer, RelabelJob},
    {"an operator moves a replica", 1, kNoFault, kAtServer, MoveReplica},
    {"a program ends", 4, kNoFault, kAnyTime, EndProgram},
};

}  // namespace

std::span<const Action> Actions() { return kActions; }

}  // namespace trainyard::control
