#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/gcloud/command_spec.h"

namespace trainyard::cli {

/// The text after an error in the command line: "Usage: PROGRAM PATH JOB [optional flags]" with the flags'
/// names, as gcloud. `program` is what the user typed before the path ("trainyard", "trainyard ai-platform").
[[nodiscard]] std::string PrintUsage(const CommandSpec& command, std::string_view program);

/// The text of --help.
[[nodiscard]] std::string PrintHelp(const CommandSpec& command, std::string_view program);

/// The commands and groups in a group, as gcloud lists them; "" is the top.
[[nodiscard]] std::string PrintGroup(std::string_view group, std::string_view program);

/// The flags that every command has, with their help: the end of `trainyard help`.
[[nodiscard]] std::string PrintGlobalFlags();

/// The same as PrintHelp for `trainyard serve`.
[[nodiscard]] std::string PrintServeHelp(const std::vector<configuration::Key>& flags);

/// "jobs list [optional flags]", after the program's name.
[[nodiscard]] std::string Synopsis(const CommandSpec& command);

/// The manual page of all commands, trainyard(1), in the man macros of groff and mandoc. Pure: any thread.
[[nodiscard]] std::string PrintManPage(const std::vector<configuration::Key>& serve_flags);

}  // namespace trainyard::cli
