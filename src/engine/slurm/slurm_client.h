#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rules/slurm/batch_script.h"
#include "rules/slurm/commands.h"
#include "rules/slurm/component.h"
#include "rules/slurm/job_list.h"
#include "rules/slurm/node_list.h"

namespace trainyard::engine {

/// Why Slurm did not do what it was asked, or is not known to have done it.
struct SlurmRefusal {
  slurm::Failure failure = slurm::Failure::kNoAnswer;
  std::string words;  ///< one sentence, for people
  friend bool operator==(const SlurmRefusal&, const SlurmRefusal&) = default;
};
template <class T>
using SlurmAnswer = std::expected<T, SlurmRefusal>;

/// How Slurm is asked. Blocks, for as long as Slurm takes and at most some 20 s; any thread, several at once.
/// Implementations: SlurmTools (its command line), SlurmRest (slurmrestd). docs/adr/0057-slurm.md.
class SlurmClient {
 public:
  virtual ~SlurmClient() = default;

  /// The new job's id. `request` has no lack. kNoAnswer: Slurm may have taken it.
  [[nodiscard]] virtual SlurmAnswer<std::int64_t> Submit(const slurm::BatchJob& batch,
                                                         const slurm::GangRequest& request) const = 0;
  /// Jobs of the account, with those that ended lately; or one job with all its components, and none if it is
  /// gone.
  [[nodiscard]] virtual SlurmAnswer<std::vector<slurm::ListedJob>> List(
      std::optional<std::int64_t> id) const = 0;
  /// Of the ids those that have the name: an id may be another's by now.
  [[nodiscard]] virtual SlurmAnswer<void> Cancel(const std::string& name,
                                                 std::span<const std::int64_t> ids) const = 0;
  /// kMistake: Slurm does not know what the options name, or the account may not have it. Whether there is
  /// room does not count, and what Slurm cannot be asked is taken for right.
  [[nodiscard]] virtual SlurmAnswer<void> Check(const slurm::Options& options) const = 0;
  /// Each node of each partition.
  [[nodiscard]] virtual SlurmAnswer<std::vector<slurm::Node>> Nodes() const = 0;
};

}  // namespace trainyard::engine
