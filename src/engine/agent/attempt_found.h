#pragma once

#include "base/result.h"
#include "engine/attempt_host.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::agent {

/// What an attempt host found, as the server is told it. kUnavailable with the reason: it cannot be found out
/// now. Pure.
[[nodiscard]] Result<v1::AttemptFound> ToFound(const std::string& attempt_id,
                                               const engine::Inspection& inspection);

}  // namespace trainyard::agent
