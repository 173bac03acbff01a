#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "rules/slurm/batch_script.h"
#include "rules/slurm/commands.h"
#include "rules/slurm/component.h"
#include "rules/slurm/job_list.h"
#include "rules/slurm/node_list.h"

namespace trainyard::engine {

/// Why Slurm did not do what was requested, or may not have done it.
struct SlurmRefusal {
  slurm::Failure failure = slurm::Failure::kNoAnswer;
  std::string words;  ///< one sentence, for people
  friend bool operator==(const SlurmRefusal&, const SlurmRefusal&) = default;
};
template <class T>
using SlurmAnswer = std::expected<T, SlurmRefusal>;

/// Returns the parsed value. If parsing failed, Slurm's answer cannot be read: kNoAnswer.
template <class T>
SlurmAnswer<T> Understood(Result<T> parsed) {
  if (!parsed) return std::unexpected(SlurmRefusal{slurm::Failure::kNoAnswer, parsed.error().message});
  return *std::move(parsed);
}

/// A client of Slurm. Calls block for as long as Slurm takes, at most some 20 s; any thread, several at once.
/// Implementations: SlurmTools (its command line), SlurmRest (slurmrestd). docs/adr/0057-slurm.md.
class SlurmClient {
 public:
  virtual ~SlurmClient() = default;

  /// Submits a job and returns its id. `request` must have no `lack`. kNoAnswer: Slurm may have accepted it.
  [[nodiscard]] virtual SlurmAnswer<std::int64_t> Submit(const slurm::BatchJob& batch,
                                                         const slurm::GangRequest& request) const = 0;
  /// Returns the account's jobs, including recently ended ones; or, with `id`, that job with all its
  /// components, or nothing if it is gone.
  [[nodiscard]] virtual SlurmAnswer<std::vector<slurm::ListedJob>> List(
      std::optional<std::int64_t> id) const = 0;
  /// Cancels those of the ids whose job has the name: another job may have an id by now.
  [[nodiscard]] virtual SlurmAnswer<void> Cancel(const std::string& name,
                                                 std::span<const std::int64_t> ids) const = 0;
  /// Checks the options. kMistake: Slurm does not know what they name, or the account may not use it. Free
  /// resources are not checked, and what cannot be checked is assumed to be correct.
  [[nodiscard]] virtual SlurmAnswer<void> Check(const slurm::Options& options) const = 0;
  /// Returns each node of each partition.
  [[nodiscard]] virtual SlurmAnswer<std::vector<slurm::Node>> Nodes() const = 0;
};

}  // namespace trainyard::engine
