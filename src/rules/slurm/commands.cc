#include "rules/slurm/commands.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "rules/slurm/job_list.h"
#include "rules/slurm/node_list.h"

namespace trainyard::slurm {

namespace {

struct Saying {
  std::string_view part;
  Failure means;
};
// Source: docs/slurm.md, "What sbatch refuses"; Slurm's slurm_errno.c has the texts, which did not change
// since 20.11.
constexpr std::array kSayings{
    Saying{"Invalid job id specified", Failure::kGone},
    Saying{"already completing or completed", Failure::kGone},
    Saying{"Requested node configuration is not available", Failure::kNever},
    Saying{"Node count specification invalid", Failure::kNever},
    Saying{"Invalid generic resource (gres) specification", Failure::kNever},
    Saying{"More processors requested than permitted", Failure::kNever},
    Saying{"CPU count per node can not be satisfied", Failure::kNever},
    Saying{"Memory specification can not be satisfied", Failure::kNever},
    Saying{"Requested time limit is invalid", Failure::kNever},
    Saying{"partition-specific limit", Failure::kNever},
    Saying{"Job violates accounting/QOS policy", Failure::kLater},
    Saying{"Slurm temporarily unable to accept job", Failure::kLater},
    Saying{"Required partition not available", Failure::kLater},
    Saying{"Requested partition configuration not available now", Failure::kLater},
    Saying{"resource temporarily unavailable", Failure::kLater},
    Saying{"nvalid partition", Failure::kMistake},
    Saying{"Invalid account", Failure::kMistake},
    Saying{"Invalid qos", Failure::kMistake},
    Saying{"Invalid feature specification", Failure::kMistake},
    Saying{"Requested reservation is invalid", Failure::kMistake},
    Saying{"Invalid license specification", Failure::kMistake},
    Saying{"Invalid node name specified", Failure::kMistake},
    Saying{"Job dependency problem", Failure::kMistake},
    Saying{"User's group not permitted to use this partition", Failure::kMistake},
    Saying{"unrecognized option", Failure::kMistake},
    Saying{"Unrecognized option", Failure::kMistake},
    Saying{"Access/permission denied", Failure::kMistake},
};

}  // namespace

// The job gets an empty environment, not the server's. --export=NIL does not pass the server's either, but
// makes a node start a login shell of the account first, with its whole profile (measured: 0.5 s).
Command SubmitCommand() { return {"sbatch", "--parsable", "--export-file=/dev/null"}; }

Command TestCommand() { return {"sbatch", "--test-only"}; }

Command ListCommand(std::string_view user) {
  return {"squeue", "-u", std::string(user), "-t", "all", "-o", std::string(kJobFormat)};
}

Command ListOneCommand(std::int64_t id) {
  return {"squeue", "-j", std::to_string(id), "-t", "all", "-o", std::string(kJobFormat)};
}

Command ConfigCommand() { return {"scontrol", "show", "config"}; }

Command CancelCommand(const std::string& name, std::span<const std::int64_t> ids) {
  Command command{"scancel", "--name=" + name};
  for (const std::int64_t id : ids) command.push_back(std::to_string(id));
  return command;
}

Command NodesCommand() { return {"sinfo", "-N", "-o", std::string(kNodeFormat)}; }

Failure FailureOf(std::string_view said) {
  for (const auto& [part, means] : kSayings)
    if (said.contains(part)) return means;
  return Failure::kNoAnswer;
}

std::int64_t ParseSubmitted(std::string_view printed) {
  std::int64_t id = -1;
  const auto [rest, error] = std::from_chars(printed.data(), printed.data() + printed.size(), id);
  const bool ends = rest == printed.data() + printed.size() || *rest == '\n' || *rest == ';';
  return error == std::errc() && ends && id > 0 ? id : -1;
}

std::string WordsOf(std::string_view said) {
  std::string_view line = said.substr(0, said.find('\n'));
  for (const std::string_view prefix : {"sbatch: ", "squeue: ", "scancel: ", "sinfo: ", "error: ",
                                        "Batch job submission failed: ", "slurm_"}) {
    if (!line.starts_with(prefix)) continue;
    const std::size_t colon = line.find(": ");  // "slurm_load_jobs error: " names a function in Slurm
    line.remove_prefix(prefix.ends_with(' ') ? prefix.size() : std::min(colon, line.size() - 2) + 2);
  }
  return std::string(line);
}

}  // namespace trainyard::slurm
