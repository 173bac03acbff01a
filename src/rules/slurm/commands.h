#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The arguments of Slurm's tools, and everything that depends on its version: the functions here work with
/// 20.11, 22.05 and 24.11. Pure: any thread. docs/slurm.md, "Versions".
namespace trainyard::slurm {

using Command = std::vector<std::string>;

/// Submits the script on its standard input and prints the id.
[[nodiscard]] Command SubmitCommand();
/// Checks the script without submitting it.
[[nodiscard]] Command TestCommand();
/// Lists all jobs of the account, ours and others, including those that ended recently. `user`: a number.
[[nodiscard]] Command ListCommand(std::string_view user);
/// Lists one job with all its components.
[[nodiscard]] Command ListOneCommand(std::int64_t id);
/// Prints the controller's configuration, and since when it runs.
[[nodiscard]] Command ConfigCommand();
/// Cancels those of the ids that have the name.
[[nodiscard]] Command CancelCommand(const std::string& name, std::span<const std::int64_t> ids);
[[nodiscard]] Command NodesCommand();

/// The meaning of a tool's failure.
enum class Failure {
  kNoAnswer,  ///< the controller does not respond, or the tool was interrupted: the command may have worked
              ///< anyway
  kGone,      ///< there is no such job
  kLater,     ///< not possible now: a limit of submitted jobs is reached, or the partition is closed
  kNever,     ///< the cluster does not have the requested resources
  kMistake,   ///< the partition, account, QOS or an option does not exist: the operator must fix it
};
/// `said`: the tool's stderr.
[[nodiscard]] Failure FailureOf(std::string_view said);

/// The id in sbatch's output ("17" or "17;cluster"); -1: there is none.
[[nodiscard]] std::int64_t ParseSubmitted(std::string_view printed);

/// One sentence for people from a tool's stderr: its first line, without "sbatch: error: ".
[[nodiscard]] std::string WordsOf(std::string_view said);

}  // namespace trainyard::slurm
