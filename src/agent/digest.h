#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

/// SHA-256 as 64 lower-case hexadecimal digits. Any thread.
namespace trainyard::agent {

[[nodiscard]] std::string Sha256(std::string_view bytes);
/// Errors of open(2) and read(2). Blocking.
[[nodiscard]] Result<std::string> Sha256OfFile(const std::string& path);

}  // namespace trainyard::agent
