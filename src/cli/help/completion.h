#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"

/// Completion of command lines by the tables of commands. The shells' scripts only ask: they run
/// `trainyard __complete -- WORDS` and offer its lines.
namespace trainyard::cli {

/// `completion bash|zsh|fish`.
[[nodiscard]] ExitStatus PrintCompletionScript(const LocalSession& session);

/// The words that can replace the last word of a command line.
struct Completion {
  /// Names that somebody else knows: to be added to `candidates`.
  enum class Names {
    kNone,
    kJobs,      ///< of the project; the server knows them
    kObjects,   ///< gs:// URLs; the server knows them
    kRuntimes,  ///< runtime versions
    kFiles,
    kDirectories,
  };
  struct Candidate {
    std::string word;
    std::string help;
    friend bool operator==(const Candidate&, const Candidate&) = default;
  };
  std::vector<Candidate> candidates;  ///< those that begin with the word
  Names names = Names::kNone;
  std::string begun;    ///< the value typed so far
  std::string ahead;    ///< stands before the value in the same word: "--job-dir="
  Arguments arguments;  ///< --server, --project and such, as given in the line
};

/// `words` are those after the program's name; the last one is being typed and may be empty. Pure: any
/// thread.
[[nodiscard]] Completion Complete(std::vector<std::string> words,
                                  const std::vector<configuration::Key>& serve_flags);

/// `__complete -- WORDS`: one candidate per line with its help after a tab; ":file", ":directory" and
/// ":nospace" (no space after it) tell the shell what to do. The server has one second to answer. Always 0.
[[nodiscard]] int PrintCompletions(const std::vector<std::string>& words,
                                   const std::vector<configuration::Key>& serve_flags,
                                   const SettingSources& sources, const Console& console);

}  // namespace trainyard::cli
