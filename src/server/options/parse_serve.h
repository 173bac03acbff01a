#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/options/serve_options.h"
#include "server/options/settings_layers.h"

namespace trainyard::server {

/// Reads the flags, and the file that --config names. On --help or an error it prints the text, sets
/// `exit_status` (0, or 2 for an error, as all commands) and returns false.
[[nodiscard]] bool ParseServeOptions(int argc, char** argv, ServeOptions& options, int& exit_status);

/// Prints every mistake as a line "FILE:LINE: KEY: REASON", and an error that counts them.
void PrintRefusal(const SettingsRefusal& refusal, const std::string& file, const std::string& command);

}  // namespace trainyard::server
