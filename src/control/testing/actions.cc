#include <string>
#include <vector>

#include "control/testing/schedule.h"
#include "control/testing/simulation.h"

namespace trainyard::control {
namespace {

constexpr std::size_t kJobsMax = 6;
constexpr std::size_t kWritesMax = 40;  ///< of the databases: some transactions

bool StartServer(Simulation& simulation, ActionRandom&, int) {
  if (simulation.server().is_up()) return false;
  simulation.server().Start();
  return true;
}

/// Now, or at one of its next writes.
bool KillServer(Simulation& simulation, ActionRandom& random, int) {
  if (random.Below(3) == 0) {
    simulation.KillAtWrite(static_cast<int>(random.Below(kWritesMax)), Simulation::End::kKill);
    return false;
  }
  simulation.KillServer();
  return true;
}

bool CutPower(Simulation& simulation, ActionRandom& random, int) {
  if (simulation.server().is_up() && random.Below(2) == 0) {
    simulation.KillAtWrite(static_cast<int>(random.Below(kWritesMax)), Simulation::End::kPowerCut);
    return false;
  }
  simulation.CutPower();
  return true;
}

bool KillSupervisor(Simulation& simulation, ActionRandom& random, int) {
  const std::string attempt_id = random.Pick(simulation.replicas().Alive());
  if (attempt_id.empty()) return false;
  simulation.around().story.Say("the supervisor of ", attempt_id, " is killed");
  simulation.replicas().Lose(attempt_id);
  return true;
}

bool BreakConnection(Simulation& simulation, ActionRandom& random, int) {
  const std::string attempt_id = random.Pick(simulation.replicas().Alive());
  if (attempt_id.empty()) return false;
  simulation.replicas().Reconnect(attempt_id);
  return true;
}

bool FillDisk(Simulation& simulation, ActionRandom&, int) {
  simulation.around().disk.SetFull(true);
  return true;
}

bool FreeDisk(Simulation& simulation, ActionRandom&, int) {
  simulation.around().disk.SetFull(false);
  return true;
}

bool LoseNode(Simulation& simulation, ActionRandom& random, int) {
  SimulatedRoom& room = simulation.room();
  std::vector<std::string> up = room.Nodes();
  std::erase_if(up, [&room](const std::string& node) { return !room.IsUp(node); });
  const std::string node = random.Pick(up);
  if (node.empty()) return false;
  simulation.around().story.Say(node, " is lost");
  room.LoseNode(node);
  simulation.replicas().LoseNode(node);
  return true;
}

bool ReturnNodes(Simulation& simulation, ActionRandom&, int) {
  for (const std::string& node : simulation.room().Nodes()) simulation.room().ReturnNode(node);
  return true;
}

bool CreateJob(Simulation& simulation, ActionRandom& random, int number) {
  if (simulation.around().ledgers.size() >= kJobsMax) return false;
  JobLedger ledger;
  ledger.exit_code = random.Below(6) == 0 ? 1 : 0;
  ledger.lines = static_cast<int>(random.Below(4));
  const auto workers = static_cast<int>(random.Below(3));
  simulation.clients().Create("job_" + std::to_string(number), workers, ledger);
  return true;
}

bool CancelJob(Simulation& simulation, ActionRandom& random, int) {
  const std::string job_id = random.Pick(simulation.clients().Jobs());
  if (job_id.empty()) return false;
  simulation.clients().Cancel(job_id);
  return true;
}

bool RelabelJob(Simulation& simulation, ActionRandom& random, int number) {
  const std::string job_id = random.Pick(simulation.clients().Jobs());
  if (job_id.empty()) return false;
  simulation.clients().Relabel(job_id, std::to_string(number));
  return true;
}

bool MoveReplica(Simulation& simulation, ActionRandom& random, int) {
  const std::string attempt_id = random.Pick(simulation.replicas().Alive());
  if (attempt_id.empty()) return false;
  simulation.clients().Maintain(simulation.replicas().JobOf(attempt_id), attempt_id);
  return true;
}

bool EndProgram(Simulation& simulation, ActionRandom& random, int) {
  const std::string attempt_id = random.Pick(simulation.replicas().Running());
  if (attempt_id.empty()) return false;
  simulation.replicas().EndProgram(attempt_id);
  return true;
}

using enum Action::Kind;
constexpr bool kAtServer = true;
constexpr bool kAnyTime = false;

constexpr Action kActions[] = {
    {"the server starts", 1, kOrdinary, kAnyTime, StartServer},
    {"the server is killed", 2, kFault, kAtServer, KillServer},
    {"the machine loses its power", 1, kFault, kAnyTime, CutPower},
    {"a supervisor is killed", 1, kFault, kAnyTime, KillSupervisor},
    {"a connection breaks", 2, kFault, kAnyTime, BreakConnection},
    {"the disk is full", 1, kLastingFault, kAnyTime, FillDisk},
    {"the disk has space", 3, kRepair, kAnyTime, FreeDisk, "the disk is full"},
    {"a node is lost", 1, kLastingFault, kAnyTime, LoseNode},
    {"the nodes are back", 1, kRepair, kAnyTime, ReturnNodes, "a node is lost"},
    {"a client creates a job", 4, kOrdinary, kAtServer, CreateJob},
    {"a client cancels a job", 2, kOrdinary, kAtServer, CancelJob},
    {"a client changes a label", 1, kOrdinary, kAtServer, RelabelJob},
    {"an operator moves a replica", 1, kOrdinary, kAtServer, MoveReplica},
    {"a program ends", 4, kOrdinary, kAnyTime, EndProgram},
};

}  // namespace

std::span<const Action> Actions() { return kActions; }

}  // namespace trainyard::control
