#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/result.h"

namespace trainyard::environment {

/// Adds distributions without files (name -> version), so that pip considers requirements of these names met:
/// the files come with distributions of other names. Errors of the file system.
[[nodiscard]] Status WriteStandIns(const std::filesystem::path& site_packages,
                                   const std::map<std::string, std::string>& versions);

}  // namespace trainyard::environment
