#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// What a program needs beside the runtime version, as the Requires-Dist of its package. Pure: any thread.
namespace trainyard::cli {

/// The requirements of a requirements.txt; `read` gives the files that it names with -r, by their path beside
/// it. kInvalidArgument with file and line for options of pip (an index, an editable folder, a hash) and
/// paths: those have no place in a package.
[[nodiscard]] Result<std::vector<std::string>> ReadRequirements(
    const std::string& path, std::string_view text,
    const std::function<std::optional<std::string>(const std::string& path)>& read);

/// A requirement of pip's that is an address alone, as a package can have it: "NAME @ ADDRESS", with the name
/// of "#egg=NAME" or of a wheel's file; others unchanged. Nothing: the address says no name.
[[nodiscard]] std::optional<std::string> NamedRequirement(std::string_view item);

/// `dependencies` of the table [project]; none without it. kInvalidArgument with the path if the list cannot
/// be read, and for Poetry's own table.
[[nodiscard]] Result<std::vector<std::string>> ReadProjectDependencies(const std::string& path,
                                                                       std::string_view text);

}  // namespace trainyard::cli
