#pragma once

#include <string>
#include <vector>

#include "cli/gcloud/json_value.h"

/// A tuning job's trials for people and for spreadsheets, from the server's JobStatus
/// (control/v1/status.proto) as JSON. Pure: any thread.
namespace trainyard::cli {

/// Whether there are trials to print.
[[nodiscard]] bool HasTrials(const Json& status);

/// A table by trial number: parameters, metric, its course as a line of blocks, and why where there is a
/// reason.
[[nodiscard]] std::string PrintTrialTable(const Json& status);

/// The same as comma-separated values (RFC 4180), the first line with the names of the columns.
[[nodiscard]] std::string PrintTrialCsv(const Json& status);

/// The trials as the API's trainingOutput.trials has them, by number.
[[nodiscard]] std::vector<Json> TrialOutputs(const Json& status);

/// "▁▃▅█": at most `width` values, from the lowest to the highest; '?' where there is no finite one. Empty
/// for less than two values.
[[nodiscard]] std::string Sparkline(const std::vector<double>& values, std::size_t width);

}  // namespace trainyard::cli
