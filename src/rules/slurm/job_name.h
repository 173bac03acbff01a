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

/// How jobs of Slurm are known again as ours: by their name and comment. An id alone proves nothing, because
/// a controller that was killed gives the ids of jobs that it forgot to others. Pure: any thread.

namespace trainyard::slurm {

/// A gang's request for room, as engine::ReservationKey.
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

/// Which submission of this installation has the name and the comment; nothing: it is none of ours.
[[nodiscard]] std::optional<Submission> ParseNames(std::string_view installation, std::string_view name,
                                                   std::string_view comment);

/// "17-1-2/0": the agent of a slot, as the server calls it (replica::v1::Slot.agent).
[[nodiscard]] std::string AgentName(const Submission& submission, int slot);
/// "17-1-2/": how the names of all agents of a submission begin.
[[nodiscard]] std::string AgentPrefix(const Submission& submission);
/// Nothing: it is no such name.
[[nodiscard]] std::optional<Submission> SubmissionOfAgent(std::string_view agent);

/// Of a list the jobs of one installation, in the order of their submissions. A value; any thread.
struct OurJobs {
  std::vector<Submission> whose;  ///< of each job
  std::vector<ListedJob> jobs;

  [[nodiscard]] std::size_t size() const noexcept { return jobs.size(); }
};

/// What can be found out of a long list before the gangs are looked at.
[[nodiscard]] OurJobs OursOf(std::string_view installation, std::vector<ListedJob> list);

}  // namespace trainyard::slurm
