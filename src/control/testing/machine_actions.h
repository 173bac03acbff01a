#pragma once

#include "control/testing/schedule.h"

/// For the simulation: actions on the machine that runs the attempts.
namespace trainyard::control {

bool KillSupervisor(Simulation& simulation, ActionRandom& random, int number);
/// The supervisor connects again.
bool BreakConnection(Simulation& simulation, ActionRandom& random, int number);
bool KillProgram(Simulation& simulation, ActionRandom& random, int number);
/// SIGSTOP.
bool StopSupervisor(Simulation& simulation, ActionRandom& random, int number);
bool ContinueSupervisors(Simulation& simulation, ActionRandom& random, int number);
/// SIGTERM, as at a shutdown of the machine: to the supervisor, or to all processes of the attempt.
bool TerminateSupervisor(Simulation& simulation, ActionRandom& random, int number);
/// Somebody removes the directory of an attempt.
bool RemoveDirectory(Simulation& simulation, ActionRandom& random, int number);
/// The next start of a supervisor fails.
bool FailStart(Simulation& simulation, ActionRandom& random, int number);
bool RunShort(Simulation& simulation, ActionRandom& random, int number);
bool EndShortage(Simulation& simulation, ActionRandom& random, int number);
/// The container engine does not answer.
bool StopContainerEngine(Simulation& simulation, ActionRandom& random, int number);
bool StartContainerEngine(Simulation& simulation, ActionRandom& random, int number);
bool HideAttempts(Simulation& simulation, ActionRandom& random, int number);
bool ShowAttempts(Simulation& simulation, ActionRandom& random, int number);
/// Somebody connects to the server and pretends to be a supervisor.
bool Intrude(Simulation& simulation, ActionRandom& random, int number);

}  // namespace trainyard::control
