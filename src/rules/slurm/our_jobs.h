#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "rules/slurm/job_list.h"
#include "rules/slurm/job_name.h"

namespace trainyard::slurm {

/// Of a list the jobs of one installation, in the order of their submissions. A value; any thread.
struct OurJobs {
  std::vector<Submission> whose;  ///< of each job
  std::vector<ListedJob> jobs;

  [[nodiscard]] std::size_t size() const noexcept { return jobs.size(); }
};

/// What can be found out of a long list before the gangs are looked at.
[[nodiscard]] OurJobs OursOf(std::string_view installation, std::vector<ListedJob> list);

}  // namespace trainyard::slurm
