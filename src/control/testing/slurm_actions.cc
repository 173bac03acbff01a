#include "control/testing/slurm_actions.h"

#include <chrono>
#include <string>
#include <vector>

#include "control/testing/simulated_cluster.h"
#include "control/testing/simulation.h"

namespace trainyard::control {
namespace {

using std::chrono::seconds;

/// Calls of Slurm's tools end after 20 s.
constexpr seconds kSlowMax{15};
/// An sbatch that gave up after 10 s may have been accepted later, and Gangs waits for that as long again.
constexpr seconds kAcceptedMax{18};
constexpr int kSilenceSecondsMax = 90;

SimulatedCluster& ClusterOf(Simulation& simulation) { return *simulation.room().slurm_cluster(); }

/// Tells what happens to the job or agent. Returns false if there is none: its name is empty.
bool Say(Simulation& simulation, const std::string& what, const std::string& name) {
  if (!name.empty()) simulation.around().story.Say(what, name);
  return !name.empty();
}

bool LoseAnswer(Simulation& simulation, ActionRandom& random, int) {
  simulation.around().story.Say("the next sbatch fails, and Slurm accepts its job");
  ClusterOf(simulation).slurm().LoseNextAnswer(random.Below(2) == 0 ? seconds(0) : kAcceptedMax);
  return true;
}

bool SlowSlurm(Simulation& simulation, ActionRandom&, int) {
  ClusterOf(simulation).slurm().SetSlow(kSlowMax);
  return true;
}

bool QuickenSlurm(Simulation& simulation, ActionRandom&, int) {
  ClusterOf(simulation).slurm().SetSlow(seconds(0));
  return true;
}

bool StopController(Simulation& simulation, ActionRandom&, int) {
  ClusterOf(simulation).slurm().SetAway(true);
  return true;
}

bool ContinueController(Simulation& simulation, ActionRandom&, int) {
  ClusterOf(simulation).slurm().SetAway(false);
  return true;
}

bool KillController(Simulation& simulation, ActionRandom&, int) {
  simulation.around().story.Say("the controller of Slurm is killed");
  ClusterOf(simulation).slurm().KillController();
  return true;
}

bool DoubleList(Simulation& simulation, ActionRandom&, int) {
  simulation.around().story.Say("the next list of Slurm has each job twice");
  ClusterOf(simulation).slurm().DoubleNextList();
  return true;
}

bool CutList(Simulation& simulation, ActionRandom&, int) {
  simulation.around().story.Say("the next list of Slurm lacks jobs");
  ClusterOf(simulation).slurm().CutNextList();
  return true;
}

bool Requeue(Simulation& simulation, ActionRandom& random, int) {
  const std::string job = random.Pick(ClusterOf(simulation).RunningJobs());
  if (!Say(simulation, "Slurm requeues job ", job)) return false;
  ClusterOf(simulation).slurm().Requeue(SimulatedCluster::IdOf(job));
  return true;
}

bool Preempt(Simulation& simulation, ActionRandom& random, int) {
  const std::string job = random.Pick(ClusterOf(simulation).RunningJobs());
  if (!Say(simulation, "Slurm preempts job ", job)) return false;
  ClusterOf(simulation).slurm().End(SimulatedCluster::IdOf(job), "PREEMPTED");
  return true;
}

/// The ledger of the job that the Slurm job is for; null: the server does not say now which one it is.
JobLedger* LedgerOf(Simulation& simulation, const std::string& slurm_job) {
  if (!simulation.server().has_recovered()) return nullptr;
  for (const auto& [uid, runner] : simulation.server().service().registry().all()) {
    if (uid != SimulatedCluster::UidOf(slurm_job)) continue;
    const auto found = simulation.around().ledgers.find(runner->job().job().job_id());
    return found == simulation.around().ledgers.end() ? nullptr : &found->second;
  }
  return nullptr;
}

/// Somebody who cancels a job in Slurm is a user, too.
bool CancelInSlurm(Simulation& simulation, ActionRandom& random, int) {
  SimulatedCluster& cluster = ClusterOf(simulation);
  const std::string job = random.Pick(random.Below(2) == 0 ? cluster.WaitingJobs() : cluster.RunningJobs());
  JobLedger* const ledger = job.empty() ? nullptr : LedgerOf(simulation, job);
  if (ledger == nullptr || !Say(simulation, "a user cancels in Slurm job ", job)) return false;
  ledger->asked_cancel = true;
  cluster.slurm().End(SimulatedCluster::IdOf(job), "CANCELLED");
  return true;
}

bool Limit(Simulation& simulation, ActionRandom& random, int) {
  const std::string job = random.Pick(ClusterOf(simulation).RunningJobs());
  JobLedger* const ledger = job.empty() ? nullptr : LedgerOf(simulation, job);
  if (ledger == nullptr || !Say(simulation, "Slurm's time limit is near for job ", job)) return false;
  ledger->is_limited = true;
  ClusterOf(simulation).LimitJob(job);
  return true;
}

bool StartTwice(Simulation& simulation, ActionRandom& random, int) {
  const std::string job = random.Pick(ClusterOf(simulation).RunningJobs());
  if (!Say(simulation, "the cluster starts an agent again, of job ", job)) return false;
  ClusterOf(simulation).StartTwice(job);
  return true;
}

bool KillAgent(Simulation& simulation, ActionRandom& random, int) {
  const std::string agent = random.Pick(ClusterOf(simulation).Agents());
  if (!Say(simulation, "all processes are killed of the agent ", agent)) return false;
  ClusterOf(simulation).KillAgent(agent);
  return true;
}

bool CutAgent(Simulation& simulation, ActionRandom& random, int) {
  const std::string agent = random.Pick(ClusterOf(simulation).Agents());
  if (!Say(simulation, "the connection breaks of the agent ", agent)) return false;
  ClusterOf(simulation).CutAgent(agent);
  return true;
}

bool SilenceAgent(Simulation& simulation, ActionRandom& random, int) {
  const std::string agent = random.Pick(ClusterOf(simulation).Agents());
  if (!Say(simulation, "nothing arrives for a while from the agent ", agent)) return false;
  ClusterOf(simulation).SilenceAgent(agent, seconds(1 + random.Below(kSilenceSecondsMax)));
  return true;
}

using enum Action::Kind;
constexpr bool kAnyTime = false;

constexpr Action kSlurmActions[] = {
    {"an answer of sbatch is lost", 2, kFault, kAnyTime, LoseAnswer, "", true},
    {"Slurm is slow", 2, kLastingFault, kAnyTime, SlowSlurm, "", true},
    {"Slurm is quick", 3, kRepair, kAnyTime, QuickenSlurm, "Slurm is slow", true},
    {"Slurm does not answer", 2, kLastingFault, kAnyTime, StopController, "", true},
    {"Slurm answers", 3, kRepair, kAnyTime, ContinueController, "Slurm does not answer", true},
    {"Slurm's controller is killed", 1, kFault, kAnyTime, KillController, "", true},
    {"Slurm lists jobs twice", 1, kFault, kAnyTime, DoubleList, "", true},
    {"Slurm's list lacks jobs", 1, kFault, kAnyTime, CutList, "", true},
    {"Slurm requeues a job", 1, kFault, kAnyTime, Requeue, "", true},
    {"Slurm preempts a job", 1, kFault, kAnyTime, Preempt, "", true},
    {"a job is cancelled in Slurm", 1, kFault, kAnyTime, CancelInSlurm, "", true},
    {"Slurm's time limit is near", 1, kFault, kAnyTime, Limit, "", true},
    {"an agent is started twice", 1, kFault, kAnyTime, StartTwice, "", true},
    {"an agent is killed", 2, kFault, kAnyTime, KillAgent, "", true},
    {"an agent's connection breaks", 2, kFault, kAnyTime, CutAgent, "", true},
    {"an agent is silent", 2, kFault, kAnyTime, SilenceAgent, "", true},
};

}  // namespace

std::span<const Action> SlurmActions() { return kSlurmActions; }

}  // namespace trainyard::control
