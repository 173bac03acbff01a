#pragma once

#include <optional>
#include <string>
#include <vector>

namespace trainyard::cli {

/// The job that a command line of gcloud submits.
struct GcloudSubmission {
  std::vector<std::string> job_ids;  ///< its words that may be the job's id; one of them is
  std::string project;               ///< of --project; empty: there is no such flag
  friend bool operator==(const GcloudSubmission&, const GcloudSubmission&) = default;
};

/// Nothing: the command is not gcloud, does not submit a training job, or shows the job's log itself
/// (--stream-logs). Pure: any thread.
[[nodiscard]] std::optional<GcloudSubmission> FindGcloudSubmission(const std::vector<std::string>& argv);

}  // namespace trainyard::cli
