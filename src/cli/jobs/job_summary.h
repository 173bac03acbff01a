#pragma once

#include <string>

#include "cli/gcloud/json_value.h"

namespace trainyard::cli {

/// The tables of `jobs describe --summarize`. Pure: any thread. Source: gcloud's format of the same command.
[[nodiscard]] std::string PrintJobSummary(const Json& job);

/// A table of what each replica used, from the answer of the server's /metrics of a job: mean and last CPU
/// use, peak and last memory use, accelerators and network if there are figures. Empty if there are none.
/// Pure: any thread.
[[nodiscard]] std::string PrintUsageSummary(const Json& answer);

}  // namespace trainyard::cli
