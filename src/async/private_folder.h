#pragma once

#include <filesystem>

#include "base/result.h"

namespace trainyard {

/// Makes a folder and what is missing above it for their owner alone (mode 0700, whatever the umask is). One
/// that is there stays as it is. Errors: the file system's. Blocking, any thread.
[[nodiscard]] Status MakePrivateFolder(const std::filesystem::path& path);

}  // namespace trainyard
