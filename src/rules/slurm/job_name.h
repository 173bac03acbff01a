#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/placement/submission.h"
#include "rules/slurm/job_list.h"

/// Names that identify Slurm jobs as ours: name and comment. An id alone is not enough, because a controller
/// that was killed reuses the ids of jobs that it forgot. Pure: any thread.

namespace trainyard::slurm {

using placement::AgentName;
using placement::AgentPrefix;
using placement::GangKey;
using placement::Submission;
using placement::SubmissionOfAgent;

/// "ty-1f3a90c2-": the beginning of the names of all jobs of an installation. `installation`: letters and
/// digits, at most 16.
[[nodiscard]] std::string NamePrefix(std::string_view installation);

/// "ty-1f3a90c2-17-1": --job-name.
[[nodiscard]] std::string JobName(std::string_view installation, const GangKey& gang);
/// "trainyard:2": --comment.
[[nodiscard]] std::string Comment(const Submission& submission);

/// The submission of this installation with the name and the comment; nullopt: it is not ours.
[[nodiscard]] std::optional<Submission> ParseNames(std::string_view installation, std::string_view name,
                                                   std::string_view comment);

/// The jobs of one installation in a list, in the order of their submissions. A value; any thread.
struct OurJobs {
  std::vector<Submission> whose;  ///< of each job
  std::vector<ListedJob> jobs;

  [[nodiscard]] std::size_t size() const noexcept { return jobs.size(); }
};

/// Extracts the installation's jobs from a long list, before the gangs are processed.
[[nodiscard]] OurJobs OursOf(std::string_view installation, std::vector<ListedJob> list);

}  // namespace trainyard::slurm
