#pragma once

#include <vector>

#include "base/result.h"
#include "cli/command_session.h"
#include "cli/run/run_request.h"

namespace trainyard::cli {

/// The variables of --env and --secret. A secret's value is that of the caller's own variable of this name,
/// or is asked for on the terminal: it is in no command line. kInvalidArgument: a flag that is not
/// NAME=VALUE; a secret without a value and without a terminal.
[[nodiscard]] Result<std::vector<RunVariable>> ReadRunVariables(const CommandSession& session);

/// The value of one secret, as above.
[[nodiscard]] Result<RunVariable> ReadSecret(const CommandSession& session, const std::string& name);

}  // namespace trainyard::cli
