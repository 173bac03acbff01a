#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rules/slurm/job_list.h"
#include "rules/slurm/node_list.h"

/// slurmrestd's answers. A number may be plain or {"set", "infinite", "number"}, a state a word or a list of
/// words, as the version of the interface has it: each form is read. Pure: any thread.
namespace trainyard::slurm {

/// Whose jobs are asked for. On slurmrestd's machine the account may have another number.
struct JobOwner {
  std::int64_t number = 0;
  std::string name;  ///< empty: it has none
};

/// The account's jobs in the answer to "jobs" or "job/ID", others' left out. kInternal: it is no list of
/// jobs.
[[nodiscard]] Result<std::vector<ListedJob>> ParseRestJobs(std::string_view answer, const JobOwner& owner);

/// Each node of each partition, from the answers to "nodes" and "partitions". kInternal: one of them is no
/// list.
///
/// Since 23.02 nothing says which partition is the default. It is the only one, where there is one only; else
/// no node has `default_partition`.
[[nodiscard]] Result<std::vector<Node>> ParseRestNodes(std::string_view nodes, std::string_view partitions);

/// The id in the answer to a submission; -1: there is none. A job that has to wait comes with an error too
/// in 22.05.
[[nodiscard]] std::int64_t ParseRestSubmitted(std::string_view answer);

/// What went wrong, in Slurm's words, which FailureOf knows; empty: nothing.
[[nodiscard]] std::string ParseRestError(std::string_view answer);

}  // namespace trainyard::slurm
