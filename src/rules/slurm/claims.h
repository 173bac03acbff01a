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

/// Whether an agent belongs to the submission of its ticket, on the node that it claims.
enum class Claim {
  kRight,
  kEarly,      ///< no list has shown the whole submission as RUNNING yet
  kElsewhere,  ///< the submission runs on other nodes
};

/// The nodes on which submissions run according to Slurm. Jobs are identified by their names and comments,
/// and by the ids from sbatch, because everyone with the account can give other jobs our names. If sbatch did
/// not respond, only names are used. A value with state; one thread.
class Claims {
 public:
  /// `components`: the number of its ids, beginning with `id`.
  void OnSubmitted(const Submission& submission, std::int64_t id, int components);
  /// The id of its first component; nullopt: sbatch did not report it.
  [[nodiscard]] std::optional<std::int64_t> IdOf(const Submission& submission) const;

  /// `all`: the list has all jobs. Removes jobs from the list that have our names but not our ids, and
  /// returns cancellations for the live ones.
  std::vector<CancelJobs> OnListed(bool all, OurJobs& ours);
  [[nodiscard]] Claim ClaimOf(const Submission& submission, std::string_view node);
  /// Forgets the gang.
  void Forget(const GangKey& gang);

 private:
  struct Known {
    std::optional<std::int64_t> first_id{};
    int components = 0;
    std::vector<std::string> nodes{};  ///< of each component, from the last list; empty: not all are RUNNING
  };
  static bool IsOwn(const Known& known, const ListedJob& job);

  std::map<Submission, Known> known_;
};

}  // namespace trainyard::slurm
