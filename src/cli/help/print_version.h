#pragma once

#include <string>

#include "cli/commands.h"
#include "cli/gcloud/output_format.h"
#include "cli/help/build_info.h"

namespace trainyard::cli {

/// "trainyard 0.1.0 (commit 0123456789ab, Release)", or the three as a resource in the format that was asked
/// for. Pure: any thread.
[[nodiscard]] std::string VersionText(const BuildInfo& build, const OutputFormat& format);

/// `version`, `--version`.
[[nodiscard]] ExitStatus PrintVersion(const LocalSession& session);

}  // namespace trainyard::cli
