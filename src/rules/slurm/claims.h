#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/slurm/gangs.h"
#include "rules/slurm/job_name.h"

namespace trainyard::slurm {

/// Whether an agent is of a submission: of the ticket's, on the node that it says.
enum class Claim {
  kRight,
  kEarly,      ///< no list has said that all of the submission is RUNNING
  kElsewhere,  ///< it runs, on other nodes
};

/// Where Slurm says that submissions run. Jobs count by their names and comments, and by the ids that sbatch
/// said: whoever has the account can give a job of its own our name. Where sbatch did not answer, names alone
/// count. A value with a memory; one thread.
class Claims {
 public:
  /// `components`: how many ids it has, from this one on.
  void OnSubmitted(const Submission& submission, std::int64_t id, int components);
  /// The id of its first component; nothing: sbatch did not say it.
  [[nodiscard]] std::optional<std::int64_t> IdOf(const Submission& submission) const;

  /// `all`: the list is of all jobs. Takes what has our names only out of the list, and returns what of it
  /// lives.
  std::vector<CancelJobs> OnListed(bool all, OurJobs& ours);
  [[nodiscard]] Claim ClaimOf(const Submission& submission, std::string_view node);
  /// Nothing of the gang is asked for any more.
  void Forget(const GangKey& gang);

 private:
  struct Known {
    std::optional<std::int64_t> first_id{};
    int components = 0;
    std::vector<std::string>
        nodes{};  ///< of each component, as the last list said; empty: not all are RUNNING
  };
  static bool IsOwn(const Known& known, const ListedJob& job);

  std::map<Submission, Known> known_;
};

}  // namespace trainyard::slurm
