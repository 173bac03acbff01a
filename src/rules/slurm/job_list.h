#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/slurm/job_state.h"

/// squeue's answers. Pure: any thread.
namespace trainyard::slurm {

/// What is asked for of each job: the format of `squeue -o`, the same in all versions. Names and comments of
/// others' jobs may have any character, so they stand behind what has not.
inline constexpr std::string_view kJobFormat = "%A|%T|%N|%j|%k|%r";

/// A job of Slurm; of a heterogeneous one each component is one.
struct ListedJob {
  std::int64_t id = 0;
  std::string name;
  std::string comment;
  JobState state = JobState::kOver;
  std::string state_text;  ///< as Slurm says it
  std::string nodes;       ///< "node[1-3]"; empty: none yet
  std::string reason;      ///< why it waits, or ended
  friend bool operator==(const ListedJob&, const ListedJob&) = default;
};

/// The jobs of a list with its header. Lines that are none of kJobFormat belong to names with line breaks:
/// they are left out. kInternal: it has no header, so it is no list.
[[nodiscard]] Result<std::vector<ListedJob>> ParseJobList(std::string_view lines);

}  // namespace trainyard::slurm
