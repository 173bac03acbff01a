#pragma once

#include <string>
#include <vector>

/// `trainyard config`: what cli::ServerSide has of the server. Both return the exit status.
namespace trainyard::server {

/// Prints one line if the file has no mistake, else all mistakes (1). Empty: the installed service's file.
[[nodiscard]] int CheckConfiguration(const std::string& path);

/// Prints the settings that `trainyard serve --config FILE FLAGS` would have. The words are "[FILE] [FLAGS]";
/// no file: the installed service's, where there is one. 1: the file has mistakes; 2: the words have.
[[nodiscard]] int ShowConfiguration(const std::vector<std::string>& words);

}  // namespace trainyard::server
