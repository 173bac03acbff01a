#pragma once

#include <string>
#include <vector>

#include "server/options/serve_options.h"

/// What `trainyard serve` and `trainyard config` do with flags and the configuration file.
namespace trainyard::server {

/// Reads the flags, and the file that --config names. On --help or an error it prints the text, sets
/// `exit_status` (0, or 2 for an error, as all commands) and returns false.
[[nodiscard]] bool ParseServeOptions(int argc, char** argv, ServeOptions& options, int& exit_status);

/// `config check`, for cli::ServerSide. Prints one line if the file has no mistakes, otherwise all mistakes,
/// and returns 1. An empty path names the installed service's file.
[[nodiscard]] int CheckConfiguration(const std::string& path);

/// `config show`, for cli::ServerSide. Prints the settings that `trainyard serve --config FILE FLAGS` would
/// have. The words are "[FILE] [FLAGS]"; without a file it uses the installed service's, if there is one. 1:
/// the file has mistakes; 2: the words have mistakes.
[[nodiscard]] int ShowConfiguration(const std::vector<std::string>& words);

}  // namespace trainyard::server
