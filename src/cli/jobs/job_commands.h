#pragma once

#include "cli/session.h"

/// `jobs describe`, `list`, `trials`, `cancel`, `update`. Each is one or two requests and a printed answer.
namespace trainyard::cli {

[[nodiscard]] ExitStatus DescribeJob(const Session& session);
[[nodiscard]] ExitStatus ListJobs(const Session& session);
[[nodiscard]] ExitStatus ListTrials(const Session& session);
[[nodiscard]] ExitStatus CancelJob(const Session& session);
[[nodiscard]] ExitStatus UpdateJob(const Session& session);

}  // namespace trainyard::cli
