#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace trainyard::cli {

/// Checks --package-path: a directory with an __init__.py, in a directory that exists. kInvalidArgument in
/// gcloud's words.
[[nodiscard]] Status CheckPackagePath(const std::filesystem::path& package_path);

/// Builds the package's source distribution with the setup.py beside it, or with a generated one, into
/// `output`. Works in `scratch`, a private copy made of links: nothing is written to the user's directories.
/// Both directories exist.
///
/// Python is python3 on PATH, or /usr/bin/python3 if that one has no setuptools. Returns the built files,
/// sorted. Errors: kFailedPrecondition: no Python or no setuptools, with what to install; kInvalidArgument:
/// "Packaging of user Python code failed with message: ..." and its output.
[[nodiscard]] Result<std::vector<std::string>> BuildPackage(const std::filesystem::path& package_path,
                                                            const std::filesystem::path& scratch,
                                                            const std::filesystem::path& output);

}  // namespace trainyard::cli
