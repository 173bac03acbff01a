#pragma once

#include "cli/session.h"

namespace trainyard::cli {

/// `jobs submit training`: checks the flags, builds and uploads packages, creates the job, and with
/// --stream-logs follows it to its end. Exit status: 0 once created; with --stream-logs 0 only if the job
/// ended SUCCEEDED. Ctrl-C leaves the job alone. Source: gcloud; recorded in tests/golden/cli.
[[nodiscard]] ExitStatus SubmitTraining(const Session& session);

}  // namespace trainyard::cli
