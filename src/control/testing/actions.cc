#include <chrono>
#include <iterator>
#include <string>
#include <vector>

#include "control/testing/machine_actions.h"
#include "control/testing/schedule.h"
#include "control/testing/simulation.h"
#include "control/testing/slurm_actions.h"
#include "rules/jobs/restart_policy.h"

namespace trainyard::control {
namespace {

constexpr std::size_t kJobsMax = 6;
constexpr int kWaitingSeconds = 3;
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

bool FillDisk(Simulation& simulation, ActionRandom&, int) {
  simulation.around().disk.SetFull(true);
  simulation.replicas().machine().SetDiskFull(true);
  return true;
}

bool FreeDisk(Simulation& simulation, ActionRandom&, int) {
  simulation.around().disk.SetFull(false);
  simulation.replicas().machine().SetDiskFull(false);
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
  simulation.replicas().machine().LoseNode(node);
  return true;
}

bool ReturnNodes(Simulation& simulation, ActionRandom&, int) {
  for (const std::string& node : simulation.room().Nodes()) simulation.room().ReturnNode(node);
  return true;
}

JobLedger SomeJob(ActionRandom& random) {
  constexpr int kPermanent[] = {1, 2, 127};
  JobLedger asked;
  if (random.Below(6) == 0) asked.exit_code = kPermanent[random.Below(std::size(kPermanent))];
  if (random.Below(5) == 0) asked.crashes = 1 + static_cast<int>(random.Below(2));
  if (asked.crashes > 0 && random.Below(4) == 0) asked.crashes += jobs::kRestartsMax;
  asked.prepares = random.Below(12) != 0;
  if (random.Below(8) == 0) asked.shortages = 1;
  asked.lines = static_cast<int>(random.Below(4));
  asked.workers = static_cast<int>(random.Below(3));
  if (random.Below(8) == 0) asked.running_seconds_max = 1 + static_cast<int>(random.Below(5));
  if (random.Below(8) == 0) asked.waiting_seconds_max = kWaitingSeconds;
  switch (random.Below(10)) {
    case 0: asked.kind = JobLedger::Kind::kMissingImage; break;
    case 1:
    case 2: asked.kind = JobLedger::Kind::kImage; break;
    case 3:
    case 4:
      asked.kind = JobLedger::Kind::kTuning;
      asked.parallel_trials = 1 + static_cast<int>(random.Below(2));
      asked.values = static_cast<int>(random.Below(3));
      break;
    default: break;
  }
  return asked;
}

bool CreateJob(Simulation& simulation, ActionRandom& random, int number) {
  if (simulation.around().ledgers.size() >= kJobsMax) return false;
  simulation.clients().Create("job_" + std::to_string(number), SomeJob(random));
  return true;
}

bool DeleteJob(Simulation& simulation, ActionRandom& random, int) {
  const std::string job_id = simulation.SomeJob(random);
  if (job_id.empty()) return false;
  simulation.clients().Delete(job_id);
  return true;
}

bool SetPolicy(Simulation& simulation, ActionRandom& random, int number) {
  const std::string job_id = simulation.SomeJob(random);
  if (job_id.empty()) return false;
  simulation.clients().SetPolicy(job_id, "user:u" + std::to_string(number) + "@example.com");
  return true;
}

bool Drain(Simulation& simulation, ActionRandom&, int) {
  simulation.around().story.Say("an operator drains the server");
  simulation.server().SetDrained(true);
  return true;
}

bool EndDrain(Simulation& simulation, ActionRandom&, int) {
  simulation.around().story.Say("an operator ends the drain");
  simulation.server().SetDrained(false);
  return true;
}

bool BreakDisk(Simulation& simulation, ActionRandom&, int) {
  simulation.around().disk.SetBroken(true);
  return true;
}

bool MendDisk(Simulation& simulation, ActionRandom&, int) {
  simulation.around().disk.SetBroken(false);
  return true;
}

bool LockDatabases(Simulation& simulation, ActionRandom&, int) {
  simulation.around().disk.SetLocked(true);
  return true;
}

bool UnlockDatabases(Simulation& simulation, ActionRandom&, int) {
  simulation.around().disk.SetLocked(false);
  return true;
}

bool SlowDisk(Simulation& simulation, ActionRandom&, int) {
  simulation.around().time.SetSlow(true);
  return true;
}

bool QuickenDisk(Simulation& simulation, ActionRandom&, int) {
  simulation.around().time.SetSlow(false);
  return true;
}

bool SilenceRegistry(Simulation& simulation, ActionRandom&, int) {
  simulation.registry().SetSilent(true);
  return true;
}

bool AnswerFromRegistry(Simulation& simulation, ActionRandom&, int) {
  simulation.registry().SetSilent(false);
  return true;
}

/// At the next start of a server.
bool SetClock(Simulation& simulation, ActionRandom& random, int) {
  constexpr std::chrono::hours kErrors[] = {std::chrono::hours(1), std::chrono::hours(24),
                                            std::chrono::hours(24 * 400), std::chrono::hours(24 * 3'650)};
  const std::chrono::hours error = kErrors[random.Below(std::size(kErrors))];
  if (simulation.server().is_up()) simulation.KillServer();
  simulation.around().time.SetClockError(random.Below(2) == 0 ? error : -error);
  return true;
}

bool CorrectClock(Simulation& simulation, ActionRandom&, int) {
  if (simulation.server().is_up()) simulation.KillServer();
  simulation.around().time.SetClockError(std::chrono::hours(0));
  return true;
}

bool CancelJob(Simulation& simulation, ActionRandom& random, int) {
  const std::string job_id = simulation.SomeJob(random);
  if (job_id.empty()) return false;
  simulation.clients().Cancel(job_id);
  return true;
}

bool RelabelJob(Simulation& simulation, ActionRandom& random, int number) {
  const std::string job_id = simulation.SomeJob(random);
  if (job_id.empty()) return false;
  simulation.clients().Relabel(job_id, std::to_string(number), random.Below(2) == 0);
  return true;
}

bool MoveReplica(Simulation& simulation, ActionRandom& random, int) {
  const std::string attempt_id = random.Pick(simulation.replicas().Alive());
  const std::string job_id = simulation.replicas().JobOf(attempt_id);
  if (job_id.empty()) return false;
  simulation.clients().Maintain(job_id, attempt_id);
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
    {"the server is killed", 4, kFault, kAtServer, KillServer},
    {"the machine loses its power", 2, kFault, kAnyTime, CutPower},
    {"a supervisor is killed", 4, kFault, kAnyTime, KillSupervisor},
    {"a connection breaks", 4, kFault, kAnyTime, BreakConnection},
    {"a supervisor is told to end", 3, kFault, kAnyTime, TerminateSupervisor},
    {"a supervisor is stopped", 3, kLastingFault, kAnyTime, StopSupervisor},
    {"the supervisors continue", 2, kRepair, kAnyTime, ContinueSupervisors, "a supervisor is stopped"},
    {"a program is killed", 4, kFault, kAnyTime, KillProgram},
    {"a directory is removed", 3, kFault, kAnyTime, RemoveDirectory},
    {"a start fails", 3, kFault, kAnyTime, FailStart},
    {"no process can be started", 1, kLastingFault, kAnyTime, RunShort},
    {"processes can be started", 2, kRepair, kAnyTime, EndShortage, "no process can be started"},
    {"the container engine does not answer", 1, kLastingFault, kAnyTime, StopContainerEngine},
    {"the container engine answers", 2, kRepair, kAnyTime, StartContainerEngine,
     "the container engine does not answer"},
    {"nobody can tell what lives", 1, kLastingFault, kAnyTime, HideAttempts},
    {"what lives can be seen", 2, kRepair, kAnyTime, ShowAttempts, "nobody can tell what lives"},
    {"an intruder connects", 2, kOrdinary, kAtServer, Intrude},
    {"the disk is full", 2, kLastingFault, kAnyTime, FillDisk},
    {"the disk has space", 3, kRepair, kAnyTime, FreeDisk, "the disk is full"},
    {"the disk is broken", 1, kLastingFault, kAnyTime, BreakDisk},
    {"the disk works again", 3, kRepair, kAnyTime, MendDisk, "the disk is broken"},
    {"the databases are locked", 1, kLastingFault, kAnyTime, LockDatabases},
    {"the databases are unlocked", 3, kRepair, kAnyTime, UnlockDatabases, "the databases are locked"},
    {"the disk is slow", 1, kLastingFault, kAnyTime, SlowDisk},
    {"the disk is quick", 2, kRepair, kAnyTime, QuickenDisk, "the disk is slow"},
    {"the clock is wrong", 1, kLastingFault, kAnyTime, SetClock},
    {"the clock is right", 2, kRepair, kAnyTime, CorrectClock, "the clock is wrong"},
    {"a registry does not answer", 2, kLastingFault, kAnyTime, SilenceRegistry},
    {"the registry answers", 2, kRepair, kAnyTime, AnswerFromRegistry, "a registry does not answer"},
    {"a node is lost", 1, kLastingFault, kAnyTime, LoseNode},
    {"the nodes are back", 2, kRepair, kAnyTime, ReturnNodes, "a node is lost"},
    {"a client creates a job", 14, kOrdinary, kAtServer, CreateJob},
    {"a client cancels a job", 3, kOrdinary, kAtServer, CancelJob},
    {"a client changes a label", 2, kOrdinary, kAtServer, RelabelJob},
    {"a client changes a policy", 2, kOrdinary, kAtServer, SetPolicy},
    {"a client deletes a job", 1, kOrdinary, kAtServer, DeleteJob},
    {"an operator moves a replica", 1, kOrdinary, kAtServer, MoveReplica},
    {"an operator drains the server", 1, kOrdinary, kAnyTime, Drain},
    {"an operator ends the drain", 2, kOrdinary, kAnyTime, EndDrain},
    {"a program ends", 8, kOrdinary, kAnyTime, EndProgram},
};

}  // namespace

std::span<const Action> Actions() {
  static const std::vector<Action> kAll = [] {
    std::vector<Action> all(std::begin(kActions), std::end(kActions));
    all.insert(all.end(), SlurmActions().begin(), SlurmActions().end());
    return all;
  }();
  return kAll;
}

}  // namespace trainyard::control
