#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "cli/gcloud/command_spec.h"

namespace trainyard::cli {

/// Flags that every command has.
inline constexpr std::array kCommonFlags = [] {
  std::array flags = std::to_array<FlagSpec>({
      {"--access-token-file", "FILE", "File that contains the access token for the server."},
      {"--account", "ACCOUNT", "Accepted for compatibility with gcloud; ignored."},
      {"--billing-project", "PROJECT", "Accepted for compatibility with gcloud; ignored."},
      {"--configuration", "NAME", "gcloud configuration to read the project and the region from."},
      {"--data", "DIR",
       "Data directory of the server on this machine. Default: the account's own, or else that of the "
       "installed service."},
      {"--format", "FORMAT", "Output format: json, yaml or value(FIELD,...)."},
      {"--help", "", "Print the arguments and flags of the command."},
      {"--impersonate-service-account", "ACCOUNT", "Accepted for compatibility with gcloud; ignored."},
      {"--project", "PROJECT", "Project to use. Default: gcloud's project."},
      {"--quiet", "", "Do not ask for confirmation, which jobs delete does on a terminal."},
      {"--server", "URL", "Address of the server: http://HOST:PORT, https://HOST:PORT or unix:/PATH."},
      {"--trace-token", "TOKEN", "Accepted for compatibility with gcloud; ignored."},
      {"--user-output-enabled", "", "Print output to stdout and stderr. Default: on."},
      {"--verbosity", "debug|info|warning|error|critical|none", "Print messages of this severity and above."},
  });
  for (FlagSpec& flag : flags) flag.everywhere = flag.name != "--help";
  return flags;
}();

/// A command's own flags and the common ones.
template <std::size_t N>
[[nodiscard]] constexpr std::array<FlagSpec, N + kCommonFlags.size()> WithCommonFlags(
    const FlagSpec (&own)[N]) {
  std::array<FlagSpec, N + kCommonFlags.size()> all{};
  std::ranges::copy(kCommonFlags, std::ranges::copy(own, all.begin()).out);
  return all;
}

}  // namespace trainyard::cli
