#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/slurm/job_list.h"
#include "rules/slurm/node_list.h"

/// Reads slurmrestd's responses. Depending on the interface's version, a number is plain or {"set",
/// "infinite", "number"}, and a state is a word or a list of words: all forms are accepted. Pure: any thread.
namespace trainyard::slurm {

/// The account whose jobs are requested. On slurmrestd's machine the account may have another number.
struct JobOwner {
  std::int64_t number = 0;
  std::string name;  ///< empty: it has none
};

/// The account's jobs in the response to "jobs" or "job/ID"; others are left out. kInternal: it is not a list
/// of jobs.
[[nodiscard]] Result<std::vector<ListedJob>> ParseRestJobs(std::string_view answer, const JobOwner& owner);

/// Each node of each partition, from the responses to "nodes" and "partitions". kInternal: one of them is not
/// a list.
///
/// Since 23.02 the response does not contain the default partition. A single partition counts as the default;
/// with several, no node has `default_partition`.
[[nodiscard]] Result<std::vector<Node>> ParseRestNodes(std::string_view nodes, std::string_view partitions);

/// The id in the response to a submission; -1: there is none. In 22.05 the response for a job that has to
/// wait also has an error.
[[nodiscard]] std::int64_t ParseRestSubmitted(std::string_view answer);

/// Slurm's error message, for FailureOf; empty: no error.
[[nodiscard]] std::string ParseRestError(std::string_view answer);

}  // namespace trainyard::slurm
