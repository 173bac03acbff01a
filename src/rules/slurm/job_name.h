#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/slurm/job_list.h"

/// Names that identify Slurm jobs as ours: name and comment. An id alone is not enough, because a controller
/// that was killed reuses the ids of jobs that it forgot. Pure: any thread.

namespace trainyard::slurm {

/// A gang's request for resources, like engine::ReservationKey.
struct GangKey {
  std::int64_t job_uid = 0;
  int try_number = 0;
  friend auto operator<=>(const GangKey&, const GangKey&) = default;
};

/// One call of sbatch for a gang. A gang is submitted again when Slurm has lost it.
struct Submission {
  GangKey gang;
  int number = 0;  ///< from 1
  friend auto operator<=>(const Submission&, const Submission&) = default;
};

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

/// "17-1-2/0": the server's name for the agent of a slot (replica::v1::Slot.agent).
[[nodiscard]] std::string AgentName(const Submission& submission, int slot);
/// "17-1-2/": the prefix of the names of all agents of a submission.
[[nodiscard]] std::string AgentPrefix(const Submission& submission);
/// The submission in an agent's name; nullopt: not an agent's name.
[[nodiscard]] std::optional<Submission> SubmissionOfAgent(std::string_view agent);

/// The jobs of one installation in a list, in the order of their submissions. A value; any thread.
struct OurJobs {
  std::vector<Submission> whose;  ///< of each job
  std::vector<ListedJob> jobs;

  [[nodiscard]] std::size_t size() const noexcept { return jobs.size(); }
};

/// Extracts the installation's jobs from a long list, before the gangs are processed.
[[nodiscard]] OurJobs OursOf(std::string_view installation, std::vector<ListedJob> list);

}  // namespace trainyard::slurm
