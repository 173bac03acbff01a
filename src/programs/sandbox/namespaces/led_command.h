#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "programs/sandbox/network/connect_door.h"
#include "programs/sandbox/network/connect_doors.h"

namespace trainyard::replica {

/// A user's command whose connections are redirected by doors (connect_doors.h). It keeps our terminal,
/// descriptors, process group, directory and ids.
struct LedCommand {
  std::vector<std::string> argv;         ///< argv[0] is looked up in the environment's PATH
  std::vector<std::string> environment;  ///< NAME=value: the complete environment
  std::vector<ConnectDoor> doors;        ///< empty: no seccomp filter is installed
  ConnectDoors::Refusal refuses{};       ///< decides which connections fail
  bool gains_nothing = false;            ///< setuid programs do not raise its privileges (no_new_privs)
};

/// Runs the command to its end and returns its exit status as a shell does: 128+N after signal N, 127 if
/// there is no such program, 126 if it cannot be run. Signals sent to us are forwarded (those of the terminal
/// reach it anyway); if we are killed, so is the command. Background processes that it leaves keep their
/// doors: a process of ours lives as long as they do. One thread. kFailedPrecondition: connections cannot be
/// redirected here; the command has not run.
[[nodiscard]] Result<int> RunLedCommand(LedCommand command);

}  // namespace trainyard::replica
