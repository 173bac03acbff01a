#pragma once

#include <string>

#include "cli/gcloud/json_value.h"

namespace trainyard::cli {

/// The tables of `jobs describe --summarize`. Pure: any thread. Source: gcloud's format of the same command.
[[nodiscard]] std::string PrintJobSummary(const Json& job);

}  // namespace trainyard::cli
