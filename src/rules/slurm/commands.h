#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The arguments of Slurm's tools, and all that differs between its versions: what is here is the same
/// in 20.11, 22.05 and 24.11. Pure: any thread. docs/slurm.md, "Versions".
namespace trainyard::slurm {

using Command = std::vector<std::string>;

/// Reads the script on its standard input; prints the id.
[[nodiscard]] Command SubmitCommand();
/// Says whether it would take the script, and takes none.
[[nodiscard]] Command TestCommand();
/// Jobs of ours and of whoever has our account, with those that ended lately. `user`: a number.
[[nodiscard]] Command ListCommand(std::string_view user);
/// One job and all its components.
[[nodiscard]] Command ListOneCommand(std::int64_t id);
/// Of the ids those that have the name.
[[nodiscard]] Command CancelCommand(const std::string& name, std::span<const std::int64_t> ids);
[[nodiscard]] Command NodesCommand();

/// What an answer of a tool that failed means.
enum class Failure {
  kNoAnswer,  ///< the controller does not answer, or the tool was cut off: it may have done it all the same
  kGone,      ///< there is no such job
  kLater,     ///< not now: a limit of submitted jobs is reached, the partition is closed
  kNever,     ///< the cluster has not what was asked for
  kMistake,   ///< the partition, account, QOS or an option does not exist: the operator's matter
};
/// `said`: what it printed on stderr.
[[nodiscard]] Failure FailureOf(std::string_view said);

/// The id in sbatch's answer ("17" or "17;cluster"); -1: there is none.
[[nodiscard]] std::int64_t ParseSubmitted(std::string_view printed);

/// One sentence for people from what a tool said: its first line, without "sbatch: error: ".
[[nodiscard]] std::string WordsOf(std::string_view said);

}  // namespace trainyard::slurm
