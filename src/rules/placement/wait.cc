#include "rules/placement/wait.h"

#include <algorithm>

namespace trainyard::placement {
namespace {

constexpr std::size_t kNamesMax = 3;  ///< jobs that a reason names

}  // namespace

std::string Naming::Job(const JobLabel& job, const std::string& viewer) const {
  return others || job.project == viewer ? job.job_id : "a job of another project";
}

std::string Naming::Project(const std::string& project, const std::string& viewer) const {
  return others || project == viewer ? "project " + project : "another project";
}

std::string Naming::Jobs(std::span<const JobLabel> jobs, const std::string& viewer) const {
  std::vector<std::string> named;
  for (const JobLabel& job : jobs) {
    if (others || job.project == viewer) named.push_back(job.job_id);
  }
  const std::size_t unnamed = jobs.size() - named.size();
  if (named.empty() && unnamed > 0)
    return unnamed == 1 ? "a job of another project"
                        : Counted(static_cast<std::int64_t>(unnamed), "job") + " of other projects";
  std::string text;
  const std::size_t shown = std::min(named.size(), kNamesMax);
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + named[i];
  if (named.size() > shown) text += " and " + std::to_string(named.size() - shown) + " more";
  if (unnamed > 0)
    text += " and " + Counted(static_cast<std::int64_t>(unnamed), "job") + " of other projects";
  return text;
}

std::string WhenTheyEnd(std::span<const JobLabel> jobs, const std::string& viewer, const Naming& naming) {
  if (jobs.size() == 1) return "It starts when " + naming.Job(jobs.front(), viewer) + " has ended.";
  return "It starts when enough of these jobs have ended.";
}

}  // namespace trainyard::placement
