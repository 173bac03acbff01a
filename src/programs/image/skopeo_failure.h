#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trainyard::image {

/// What it prints where a connection was refused it (programs/sandbox/network/connect_guard.h): nothing else
/// gives EACCES.
inline constexpr std::string_view kRefusedConnection = "connect: permission denied";

/// Why skopeo failed, from what it printed: a code, and one sentence that says what to do. Knows its words
/// (1.9 to 1.20) for a missing image, credentials, networks, full disks, digests and archives; else its last
/// line as it is, as kInternal. Pure: any thread.
/// @param registry  that was asked; empty if none was
[[nodiscard]] Error SkopeoFailure(const std::vector<std::string>& printed, std::string_view registry);

}  // namespace trainyard::image
