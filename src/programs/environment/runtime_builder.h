#pragma once

#include <stop_token>

#include "base/result.h"
#include "programs/environment/environment.h"
#include "programs/environment/layout.h"
#include "programs/environment/runtime_version.h"

namespace trainyard::environment {

/// Builds the virtual environment of a runtime version unless it exists: with uv (which it installs if it
/// can), otherwise with venv and pip; compiles bytecode. Errors: kFailedPrecondition if this machine lacks
/// the Python, or with the tool's reason; kUnavailable for an index that cannot be reached,
/// kResourceExhausted for a full disk. Blocks.
[[nodiscard]] Status BuildRuntime(const Layout& layout, const RuntimeVersion& runtime,
                                  const PreparationHooks& hooks);

}  // namespace trainyard::environment
