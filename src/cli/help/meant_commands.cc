#include "cli/help/meant_commands.h"

#include <algorithm>
#include <array>

namespace trainyard::cli {

namespace {

/// Words of docker, kubectl, Slurm, git and gcloud, and what they do here.
struct Meaning {
  std::string_view words;     ///< between blanks
  std::string_view commands;  ///< separated by commas
};
constexpr std::array kMeanings{
    Meaning{" kill cancel abort terminate scancel ", "jobs cancel"},
    Meaning{" rm remove delete del ", "jobs delete,storage rm"},
    Meaning{" ls list queue squeue history ", "jobs list,storage ls"},
    Meaning{" show get inspect info describe scontrol ", "jobs describe"},
    Meaning{" log tail follow output stream watch ", "jobs stream-logs"},
    Meaning{" submit create train launch exec sbatch srun start ", "run,jobs submit training"},
    Meaning{" retry restart resubmit ", "jobs rerun"},
    Meaning{" ssh attach enter bash sh ", "jobs shell"},
    Meaning{" upload cp copy push ", "storage cp"},
    Meaning{" fetch pull results artifacts ", "jobs download"},
    Meaning{" login signin ", "auth login"},
    Meaning{" server up daemon init ", "serve"},
    Meaning{" board metrics curves ", "jobs tensorboard"},
    Meaning{" hyperparameters tuning sweep ", "jobs trials"}};

}  // namespace

std::vector<std::string> CommandsMeantBy(std::string_view word) {
  const std::string whole = " " + std::string(word) + " ";
  const auto has_word = [&](const Meaning& one) { return one.words.find(whole) != std::string_view::npos; };
  const auto meant = std::ranges::find_if(kMeanings, has_word);
  std::vector<std::string> commands;
  const bool is_word = !word.empty() && word.find(' ') == std::string_view::npos;
  if (meant == kMeanings.end() || !is_word) return commands;
  for (std::string_view rest = meant->commands; !rest.empty();) {
    commands.emplace_back(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), commands.back().size() + 1));
  }
  return commands;
}

}  // namespace trainyard::cli
