#pragma once

#include <string>
#include <vector>

/// `trainyard config`: the server's part of it, for cli::ServerSide. Both functions return the exit status.
namespace trainyard::server {

/// Prints one line if the file has no mistakes, otherwise all mistakes, and returns 1. An empty path names
/// the installed service's file.
[[nodiscard]] int CheckConfiguration(const std::string& path);

/// Prints the settings that `trainyard serve --config FILE FLAGS` would have. The words are "[FILE] [FLAGS]";
/// without a file it uses the installed service's, if there is one. 1: the file has mistakes; 2: the words
/// have mistakes.
[[nodiscard]] int ShowConfiguration(const std::vector<std::string>& words);

}  // namespace trainyard::server
