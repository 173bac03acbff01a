#pragma once

#include <filesystem>

#include "base/result.h"
#include "programs/environment/layout.h"

namespace trainyard::environment {

/// Where the trainers of the built-in algorithms are, for PYTHONPATH: a folder named by the hash of what is
/// compiled in, so that running jobs keep theirs when the program is replaced. Pure: a name only.
[[nodiscard]] std::filesystem::path AlgorithmFolder(const Layout& layout);

/// Writes them there, unless they are there already; atomic, and several processes may do so at once. Errors
/// of the file system.
[[nodiscard]] Status InstallAlgorithms(const Layout& layout);

}  // namespace trainyard::environment
