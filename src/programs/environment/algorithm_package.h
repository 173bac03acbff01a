#pragma once

#include <filesystem>

#include "base/result.h"
#include "programs/environment/layout.h"

namespace trainyard::environment {

/// The directory of the built-in algorithms' trainers, for PYTHONPATH. Its name contains the hash of the
/// compiled-in files, so that running jobs keep their directory when the program is replaced. Pure: only
/// computes the name.
[[nodiscard]] std::filesystem::path AlgorithmFolder(const Layout& layout);

/// Writes the trainers there unless they exist already; atomic, and several processes may do so at once.
/// Errors of the file system.
[[nodiscard]] Status InstallAlgorithms(const Layout& layout);

}  // namespace trainyard::environment
