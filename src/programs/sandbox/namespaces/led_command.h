#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "programs/sandbox/network/connect_door.h"
#include "programs/sandbox/network/connect_doors.h"

namespace trainyard::replica {

/// A user's command whose connections go through doors (connect_doors.h). It has our terminal, descriptors,
/// process group, directory and ids.
struct LedCommand {
  std::vector<std::string> argv;         ///< argv[0] is looked up in the environment's PATH
  std::vector<std::string> environment;  ///< NAME=value: all that there is
  std::vector<ConnectDoor> doors;        ///< none: the kernel is asked nothing
  ConnectDoors::Refusal refuses{};       ///< connections that are not made
  bool gains_nothing = false;            ///< setuid programs give it no rights (no_new_privs)
};

/// Runs it to its end and returns its exit status as a shell does: 128+N after signal N, 127 if there is no
/// such program, 126 if it cannot be run. Signals that are sent to us are passed on (those of the terminal
/// reach it anyway); if we are killed, so is it. What it started and left behind keeps its doors: a process
/// of ours lives on for as long as that does. One thread. kFailedPrecondition: the doors cannot be had; the
/// command has not run.
[[nodiscard]] Result<int> RunLedCommand(LedCommand command);

}  // namespace trainyard::replica
