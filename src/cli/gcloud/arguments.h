#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/gcloud/command_spec.h"

namespace trainyard::cli {

/// The command line of one command, checked against its spec.
struct Arguments {
  std::vector<std::string> positionals;
  std::map<std::string, std::vector<std::string>, std::less<>>
      flags;                                            ///< by name, in order; a switch has "true" or "false"
  std::optional<std::vector<std::string>> passthrough;  ///< after --; absent without --

  [[nodiscard]] bool Has(std::string_view flag) const { return flags.contains(flag); }
  /// The last value.
  [[nodiscard]] std::optional<std::string> Value(std::string_view flag) const;
  /// All values; empty if it was not given.
  [[nodiscard]] const std::vector<std::string>& Values(std::string_view flag) const;
  [[nodiscard]] bool IsOn(std::string_view flag) const { return Value(flag) == "true"; }
};

/// "argument ARGUMENT: reason": the command line is wrong, in a way that only the command can see. The exit
/// status is then 2, as for what ParseArguments refuses.
[[nodiscard]] Error UsageError(std::string_view argument, std::string_view reason);
[[nodiscard]] bool IsUsageError(const Error& error);

/// Parses the words after the command's path. Stops at --help or -h without further checks (then
/// Has("--help")). kInvalidArgument with gcloud's text: the caller prints it after "ERROR: (path) ", followed
/// by the usage if the text has no line end. Pure: any thread. Source: argparse as gcloud extends it;
/// recorded in tests/golden/cli.
[[nodiscard]] Result<Arguments> ParseArguments(const CommandSpec& command, std::string_view program,
                                               const std::vector<std::string>& words);

}  // namespace trainyard::cli
