#pragma once

#include <span>

#include "cli/command_session.h"
#include "cli/commands.h"

namespace trainyard::cli {

/// The table of this directory.
[[nodiscard]] std::span<const Command> RunCommands();

/// `run PROGRAM [ARGS]`: packages the program with the files beside it, creates a job and follows it. Exit
/// status as FollowJobToItsEnd; 0 once created with --async.
[[nodiscard]] ExitStatus RunProgram(const CommandSession& session);

/// `jobs rerun JOB [-- ARGS]`: a new job with the input of a former one. Exit status as RunProgram.
[[nodiscard]] ExitStatus RerunFormerJob(const CommandSession& session);

}  // namespace trainyard::cli
