#pragma once

namespace trainyard {

/// All commands but `serve` and `replica`: argv as main has it. Returns the exit status: 0, 1 when the
/// command failed, 2 when the command line is wrong, as gcloud.
int RunCommandLine(int argc, char** argv);

}  // namespace trainyard
