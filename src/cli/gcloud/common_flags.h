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
     .help = "File with a token that the server asks for.",
     .everywhere = true},
    {.name = "--account",
     .metavar = "ACCOUNT",
     .help = "Accepted for scripts written for gcloud; says nothing here.",
     .everywhere = true},
    {.name = "--billing-project",
     .metavar = "PROJECT",
     .help = "Accepted for scripts written for gcloud; says nothing here.",
     .everywhere = true},
    {.name = "--configuration",
     .metavar = "NAME",
     .help = "Configuration of gcloud to read the project and the region from.",
     .everywhere = true},
    {.name = "--format",
     .metavar = "FORMAT",
     .help = "How to print the answer: json, yaml or value(FIELD,...).",
     .everywhere = true},
    {.name = "--help", .kind = FlagKind::kSwitch, .help = "Shows what the command takes."},
    {.name = "--impersonate-service-account",
     .metavar = "ACCOUNT",
     .help = "Accepted for scripts written for gcloud; says nothing here.",
     .everywhere = true},
    {.name = "--project", .metavar = "PROJECT", .help = "Project of the job.", .everywhere = true},
    {.name = "--quiet",
     .kind = FlagKind::kSwitch,
     .help = "Never asks anything. (It never does.)",
     .everywhere = true},
    {.name = "--server",
     .metavar = "URL",
     .help = "Address of the server: http://HOST:PORT, https://HOST:PORT or unix:/PATH.",
     .everywhere = true},
    {.name = "--trace-token",
     .metavar = "TOKEN",
     .help = "Accepted for scripts written for gcloud; says nothing here.",
     .everywhere = true},
    {.name = "--user-output-enabled",
     .kind = FlagKind::kSwitch,
     .help = "Print the answer; on unless taken back.",
     .everywhere = true},
    {.name = "--verbosity",
     .metavar = "LEVEL",
     .help = "debug, info, warning, error, critical or none: which remarks are shown.",
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

}  // namespace trainyard::cli
