#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

/// The file of certificate authorities that a replica's programs trust.
namespace trainyard::front {

/// Writes `bundle`: the first of `system` that can be read (none: a machine without authorities), and the
/// authority in `own`. A bundle that has the same contents is left as it is. Blocking; errors of the file
/// system.
[[nodiscard]] Status MakeCaBundle(const std::vector<std::string>& system, const std::filesystem::path& own,
                                  const std::filesystem::path& bundle);

}  // namespace trainyard::front
