#pragma once

#include <string>
#include <vector>

#include "cli/gcloud/json_value.h"
#include "cli/gcloud/table.h"

/// A tuning job's trials for people and for spreadsheets, from the server's JobStatus
/// (control/v1/status.proto) as JSON. Pure: any thread.
namespace trainyard::cli {

/// Whether there are trials to print.
[[nodiscard]] bool HasTrials(const Json& status);

/// The trial that the API's Job lists first, if it has a metric: the server orders them. Empty if there is
/// none.
[[nodiscard]] std::string BestTrial(const Json& job);

/// The best trial, marked "(best)", then the others by number: metric, parameters, the metric's course as a
/// line of blocks, and the reason if there is one. Numbers are rounded; the other formats have them exactly.
[[nodiscard]] Rows TrialRows(const Json& status, const std::string& best);

/// All trials by number as comma-separated values (RFC 4180); the first line has the column names.
[[nodiscard]] std::string PrintTrialCsv(const Json& status);

/// The trials as the API's trainingOutput.trials has them, by number.
[[nodiscard]] std::vector<Json> TrialOutputs(const Json& status);

/// "▁▃▅█": at most `width` values, scaled from the lowest to the highest; '?' for a value that is not finite.
/// Empty for less than two values.
[[nodiscard]] std::string Sparkline(const std::vector<double>& values, std::size_t width);

}  // namespace trainyard::cli
