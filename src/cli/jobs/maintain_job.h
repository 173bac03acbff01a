#pragma once

#include "cli/session.h"

namespace trainyard::cli {

/// `jobs maintain JOB REPLICA`: has one replica stopped and started again, as the maintenance of its machine
/// would.
[[nodiscard]] ExitStatus MaintainJob(const Session& session);

}  // namespace trainyard::cli
