#pragma once

#include <string>

#include "base/result.h"
#include "cli/gcloud/json_value.h"

namespace trainyard::cli {

/// The folder that a job writes to, "gs://bucket/folder" without a slash at its end: its jobDir, else what
/// TRAINYARD_JOB_DIR names (`trainyard run`). kFailedPrecondition: it has none. Pure: any thread.
[[nodiscard]] Result<std::string> JobFolder(const Json& job);

}  // namespace trainyard::cli
