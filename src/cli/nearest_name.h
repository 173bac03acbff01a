#pragma once

#include <string>
#include <vector>

#include "cli/command_session.h"
#include "cli/gcloud/command_spec.h"

/// Mistyped names of things: jobs and buckets are asked from the server, once a command has failed; runtime
/// versions are known here. In a job that is refused, the server names what is near.
namespace trainyard::cli {

/// The error of a command with "Did you mean 'NAME'?" at the end of its first line, if it is about a name
/// that does not exist and one is near. Otherwise the error unchanged.
[[nodiscard]] Error WithNearestName(Error error, const CommandSpec& command, const CommandSession& session);

/// The same for a command without a server: only runtime versions.
[[nodiscard]] Error WithNearestName(Error error, const Arguments& arguments, const SettingSources& sources);

/// The names of the project's newest jobs.
[[nodiscard]] Result<std::vector<std::string>> JobNames(const CommandSession& session);

/// All runtime versions for jobs.
[[nodiscard]] std::vector<std::string> RuntimeNames(const Arguments& arguments,
                                                    const SettingSources& sources);

}  // namespace trainyard::cli
