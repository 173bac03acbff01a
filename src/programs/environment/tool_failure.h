#pragma once

#include <string_view>

#include "base/error.h"
#include "base/process/run_tool.h"

namespace trainyard::environment {

/// Why an installation tool failed, in one sentence that begins with its name ("pip: No matching distribution
/// found for nosuchpkg"), from what it printed. kResourceExhausted for a full disk, kUnavailable for an index
/// that cannot be reached, else kFailedPrecondition. Pure. @param tool "pip" or "uv".
[[nodiscard]] Error ExplainFailure(std::string_view tool, const ToolEnd& end);

}  // namespace trainyard::environment
