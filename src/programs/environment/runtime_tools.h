#pragma once

#include <filesystem>

#include "base/result.h"
#include "programs/environment/environment.h"
#include "programs/environment/layout.h"
#include "programs/environment/runtime_version.h"

namespace trainyard::environment {

/// Builds the tools that a runtime version names, each once for all versions, in an environment of its own:
/// gsutil's requirements conflict with those of programs. The runtime's bin folder gets a script for
/// each. A tool that cannot be installed affects nothing else: the log says why, its script says what to do.
/// Errors: kCancelled, kResourceExhausted, and those of writing the scripts.
[[nodiscard]] Status AddTools(const Layout& layout, const RuntimeVersion& runtime,
                              const std::filesystem::path& folder, const PreparationHooks& hooks);

}  // namespace trainyard::environment
