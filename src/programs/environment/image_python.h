#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/async/file.h"
#include "base/result.h"
#include "programs/environment/environment.h"
#include "programs/environment/layout.h"

namespace trainyard::environment {

/// An image that has a Python, pulled and unpacked.
struct PythonImage {
  std::string name;                                ///< for messages: "python:3.7-slim"
  std::string digest;                              ///< "sha256:..."; part of the folder's name
  std::vector<std::filesystem::path> layers;       ///< absolute, the lowest first, as ImageFiles takes them
  std::vector<std::filesystem::path> search_path;  ///< its PATH
};

/// The most that is copied from one image. A Python with its headers has some 3,000 files and 150 MiB, the
/// largest file (libpython) has 30 MiB, and it needs some 20 libraries.
struct ImagePythonLimits {
  std::size_t files = 20'000;
  std::size_t file_bytes = kReadFileMax;  ///< of one file, which is read into memory
  std::uint64_t bytes = std::uint64_t{1} << 30;
  std::size_t libraries = 128;
  int depth = 24;  ///< of nested directories
};

/// Copies the highest of the named Pythons ("3.7") of an image into ENVIRONMENTS_DIR/pythons, with its
/// standard library and the shared libraries that it needs, so that it runs on this machine: it uses the
/// machine's C library and compiler runtime; all other libraries are copied from the image, and the program
/// finds them next to itself (DT_RPATH). The image's packages are left out. A Python that was copied before
/// is kept. It is run once, in the isolation of the hooks, to see whether it works and to compile its
/// library. Takes a lock; may be killed at any point. Blocks for seconds; any thread. Errors:
/// kFailedPrecondition if the image has no such Python, if it does not run here (another C library, or a
/// newer one than the machine's), or if it exceeds the limits; kCancelled; those of the file system.
[[nodiscard]] Status TakePythonFromImage(const Layout& layout, const PythonImage& image,
                                         const std::vector<std::string>& versions,
                                         const PreparationHooks& hooks, const ImagePythonLimits& limits = {});

}  // namespace trainyard::environment
