#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/gcloud/json_value.h"
#include "cli/run/run_request.h"

/// A job once more. Pure: any thread.
namespace trainyard::cli {

struct RerunChanges {
  std::string job_id;                            ///< of the new job
  std::optional<std::vector<std::string>> args;  ///< the former's if absent
  std::vector<RunVariable> variables;            ///< instead of, or beside, those of the same names
};

/// The input and labels of a job as the server shows it, as a new job. The folder that `trainyard run` made
/// for the former job becomes the new job's own.
[[nodiscard]] Json RerunJob(const Json& former, const RerunChanges& changes);

/// Names of the former job's secrets that no change gives a value: the server has kept none.
[[nodiscard]] std::vector<std::string> MissingSecrets(const Json& former,
                                                      const std::vector<RunVariable>& variables);

/// "train_20261123_101502" again: the time of a former run is replaced, and put behind any other name.
[[nodiscard]] std::string RerunJobId(std::string_view former_id, const std::tm& local_time);

}  // namespace trainyard::cli
