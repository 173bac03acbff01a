#include "cli/results/job_folder.h"

namespace trainyard::cli {

Result<std::string> JobFolder(const Json& job) {
  std::string folder = TextAt(job, "trainingInput.jobDir");
  if (const Json* variables = FindMember(job, "trainingInput.env"); folder.empty() && variables != nullptr) {
    for (const Json& variable : variables->children)
      if (TextAt(variable, "name") == "TRAINYARD_JOB_DIR") folder = TextAt(variable, "value");
  }
  while (folder.ends_with('/')) folder.pop_back();
  if (folder.starts_with("gs://")) return folder;
  return std::unexpected(FailedPrecondition("The job [" + TextAt(job, "jobId") +
                                            "] has no folder: it was submitted without --job-dir."));
}

}  // namespace trainyard::cli
