#pragma once

#include <span>

#include "cli/commands.h"

/// Commands for clients that are not ours: gcloud, gsutil, Google's libraries.
namespace trainyard::cli {

/// `env`: prints variables that lead clients to a server. Needs no CommandSession: it asks the server itself.
[[nodiscard]] ExitStatus PrintClientEnvironment(const LocalSession& session);

/// `with`: runs any program with Google's names meaning a server (docs/adr/0031-with.md).
[[nodiscard]] ExitStatus RunWith(const LocalSession& session);

}  // namespace trainyard::cli
