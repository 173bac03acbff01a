#include "control/testing/machine_actions.h"

#include <iterator>
#include <string>

#include "control/testing/simulation.h"
#include "rules/cluster/task_name.h"

namespace trainyard::control {

using engine::SimulatedMachine;

namespace {

/// An attempt that has a supervisor; empty: there is none.
std::string PickAttempt(Simulation& simulation, ActionRandom& random) {
  return random.Pick(simulation.replicas().Supervised());
}

/// The intruder learns which attempts belong to jobs that have ended.
void LearnEnds(Simulation& simulation) {
  if (!simulation.server().has_recovered()) return;
  const auto& runners = simulation.server().service().registry().all();
  engine::Intruder& intruder = simulation.replicas().intruder();
  for (const std::string& id : intruder.Living()) {
    if (!runners.contains(cluster::ParseAttemptId(id)->job_uid)) intruder.LearnEnd(id);
  }
}

}  // namespace

bool KillSupervisor(Simulation& simulation, ActionRandom& random, int) {
  const std::string id = PickAttempt(simulation, random);
  if (id.empty()) return false;
  simulation.replicas().machine().Lose(id);
  return true;
}

bool BreakConnection(Simulation& simulation, ActionRandom& random, int) {
  const std::string id = PickAttempt(simulation, random);
  if (id.empty()) return false;
  simulation.replicas().machine().Reconnect(id);
  return true;
}

bool KillProgram(Simulation& simulation, ActionRandom& random, int) {
  const std::string id = random.Pick(simulation.replicas().Running());
  if (id.empty()) return false;
  simulation.replicas().machine().KillProgram(id);
  return true;
}

bool StopSupervisor(Simulation& simulation, ActionRandom& random, int) {
  const std::string id = PickAttempt(simulation, random);
  if (id.empty()) return false;
  simulation.replicas().machine().Pause(id);
  return true;
}

bool ContinueSupervisors(Simulation& simulation, ActionRandom&, int) {
  for (const std::string& id : simulation.replicas().Alive()) simulation.replicas().machine().Continue(id);
  return true;
}

bool TerminateSupervisor(Simulation& simulation, ActionRandom& random, int) {
  const std::string id = PickAttempt(simulation, random);
  if (id.empty()) return false;
  simulation.replicas().machine().ShutDown(id, random.Below(2) == 0);
  return true;
}

bool RemoveDirectory(Simulation& simulation, ActionRandom& random, int) {
  const std::string id = PickAttempt(simulation, random);
  if (id.empty()) return false;
  simulation.replicas().machine().RemoveDirectory(id);
  return true;
}

bool FailStart(Simulation& simulation, ActionRandom& random, int) {
  using enum SimulatedMachine::StartFault;
  constexpr SimulatedMachine::StartFault kAll[] = {kRefused, kNoManifest, kNotStarted, kAnswerLost,
                                                   kEndsAtOnce};
  simulation.replicas().machine().FailNextStart(kAll[random.Below(std::size(kAll))]);
  return false;  // not yet
}

bool RunShort(Simulation& simulation, ActionRandom&, int) {
  simulation.replicas().machine().SetShort(true);
  return true;
}

bool EndShortage(Simulation& simulation, ActionRandom&, int) {
  simulation.replicas().machine().SetShort(false);
  return true;
}

bool StopContainerEngine(Simulation& simulation, ActionRandom&, int) {
  simulation.replicas().machine().SetEngineDown(true);
  return true;
}

bool StartContainerEngine(Simulation& simulation, ActionRandom&, int) {
  simulation.replicas().machine().SetEngineDown(false);
  return true;
}

bool HideAttempts(Simulation& simulation, ActionRandom&, int) {
  simulation.replicas().machine().SetHidden(true);
  return true;
}

bool ShowAttempts(Simulation& simulation, ActionRandom&, int) {
  simulation.replicas().machine().SetHidden(false);
  return true;
}

bool Intrude(Simulation& simulation, ActionRandom&, int) {
  LearnEnds(simulation);
  engine::Intruder& intruder = simulation.replicas().intruder();
  for (const std::string& violation : intruder.TakeViolations()) simulation.around().story.Violate(violation);
  const std::string how(intruder.Try());
  if (how.empty()) return false;
  simulation.around().story.Say("an intruder: ", how);
  return true;
}

}  // namespace trainyard::control
