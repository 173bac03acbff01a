#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

/// What the command line accepts, as data: each directory of commands has a table, arguments.h parses by it,
/// help/ prints it.
namespace trainyard::cli {

/// Checks a flag's value. The error's message is gcloud's text after "argument --flag: ".
using ValueCheck = Status (*)(std::string_view value);

/// --flag VALUE or --flag=VALUE, of which the last one counts; or a switch: --flag, and --no-flag to turn it
/// off.
struct FlagSpec {
  std::string_view name;     ///< "--job-dir"
  std::string_view metavar;  ///< "PATH"; "bash|zsh|fish": one of these (ChoicesOf); empty: a switch
  std::string_view help;
  ValueCheck check = nullptr;
  bool repeated = false;    ///< each value adds to the previous ones (labels, lists)
  bool everywhere = false;  ///< a flag of all commands: not in the usage line
  bool required = false;
  bool beta = false;  ///< gcloud has it in alpha and beta only: not in the usage line either
  [[nodiscard]] constexpr bool is_switch() const { return metavar.empty(); }
};
[[nodiscard]] constexpr FlagSpec Repeated(FlagSpec flag) {
  flag.repeated = true;
  return flag;
}
[[nodiscard]] constexpr FlagSpec Required(FlagSpec flag) {
  flag.required = true;
  return flag;
}
[[nodiscard]] constexpr FlagSpec Beta(FlagSpec flag) {
  flag.beta = true;
  return flag;
}

/// Flags that belong together.
struct FlagGroup {
  enum class Rule {
    kExclusive,    ///< at most one of them
    kAllOrNone,    ///< if one is given, all must be
    kFirstNeeded,  ///< the others need the first
  };
  Rule rule = Rule::kExclusive;
  std::span<const std::string_view> flags;
};

struct CommandSpec {
  std::string_view path;        ///< after the program's name: "jobs submit training"
  std::string_view summary;     ///< one line
  std::string_view positional;  ///< "JOB"; empty: none
  bool repeats = false;         ///< the positional may be given several times
  bool optional = false;        ///< or be absent
  std::string_view second;      ///< after it: "REPLICA"; "[REPLICA]" may be absent
  /// The first positional ends the flags: every word after it is the program's, without "--". "-m" counts as
  /// one, as Python's own does.
  bool program = false;
  bool passthrough = false;  ///< -- USER_ARGS
  std::span<const FlagSpec> flags;
  std::span<const FlagGroup> groups;
  std::string_view examples;  ///< one per line, after the program's name: "jobs list --limit=5"
};

/// The choices that a metavar or positional lists, "on|off"; empty if it names a kind of value. Pure.
[[nodiscard]] std::vector<std::string_view> ChoicesOf(std::string_view metavar);

}  // namespace trainyard::cli
