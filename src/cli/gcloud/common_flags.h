#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "cli/gcloud/command_spec.h"

namespace trainyard::cli {

/// Flags that every command has.
inline constexpr std::array<FlagSpec, 13> kCommonFlags{{
    {.name = "--access-token-file",
     .metavar = "FILE",
     .help = "File with the access token for the server.",
     .everywhere = true},
    {.name = "--account",
     .metavar = "ACCOUNT",
     .help = "Accepted for compatibility with gcloud; ignored.",
     .everywhere = true},
    {.name = "--billing-project",
     .metavar = "PROJECT",
     .help = "Accepted for compatibility with gcloud; ignored.",
     .everywhere = true},
    {.name = "--configuration",
     .metavar = "NAME",
     .help = "gcloud configuration to read the project and the region from.",
     .everywhere = true},
    {.name = "--format",
     .metavar = "FORMAT",
     .help = "Output format: json, yaml or value(FIELD,...).",
     .everywhere = true},
    {.name = "--help", .kind = FlagKind::kSwitch, .help = "Print the arguments and flags of the command."},
    {.name = "--impersonate-service-account",
     .metavar = "ACCOUNT",
     .help = "Accepted for compatibility with gcloud; ignored.",
     .everywhere = true},
    {.name = "--project", .metavar = "PROJECT", .help = "Project of the job.", .everywhere = true},
    {.name = "--quiet",
     .kind = FlagKind::kSwitch,
     .help = "Has no effect: the command never prompts.",
     .everywhere = true},
    {.name = "--server",
     .metavar = "URL",
     .help = "Address of the server: http://HOST:PORT, https://HOST:PORT or unix:/PATH.",
     .everywhere = true},
    {.name = "--trace-token",
     .metavar = "TOKEN",
     .help = "Accepted for compatibility with gcloud; ignored.",
     .everywhere = true},
    {.name = "--user-output-enabled",
     .kind = FlagKind::kSwitch,
     .help = "Print output. Default: on.",
     .everywhere = true},
    {.name = "--verbosity",
     .metavar = "debug|info|warning|error|critical|none",
     .help = "The least severe messages to print.",
     .everywhere = true},
}};

/// A command's own flags and the common ones.
template <std::size_t N>
[[nodiscard]] constexpr std::array<FlagSpec, N + kCommonFlags.size()> WithCommonFlags(
    const std::array<FlagSpec, N>& own) {
  std::array<FlagSpec, N + kCommonFlags.size()> all{};
  std::ranges::copy(own, all.begin());
  std::ranges::copy(kCommonFlags, all.begin() + N);
  return all;
}

inline constexpr auto kOnlyCommonFlags = WithCommonFlags(std::array<FlagSpec, 0>{});

/// For commands that work on the server's files.
inline constexpr FlagSpec kDataDirFlag{
    .name = "--data", .metavar = "DIR", .help = "Data directory of the server."};

}  // namespace trainyard::cli
