#pragma once

#include "cli/api_client.h"
#include "cli/command_session.h"
#include "cli/console.h"

namespace trainyard::cli {

/// Prints what the server takes for a mistake in a job that was just created ("WARNING: ..." on stderr).
/// Prints nothing if the server does not say.
void PrintJobWarnings(ApiClient& client, const Console& console, const JobReference& job);

}  // namespace trainyard::cli
