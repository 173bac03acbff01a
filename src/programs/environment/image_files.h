#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace trainyard::environment {

/// The most names in one directory. A Python's largest directory has some hundreds.
inline constexpr std::size_t kNamesMax = 10'000;

/// The files of an unpacked image, as overlayfs would show its layers: the highest layer that has a path
/// counts, and paths that it deletes do not exist. Links are followed only inside the image. Reads the disk;
/// any thread.
class ImageFiles {
 public:
  /// @param layers  absolute directories, the lowest first, with overlayfs' own form of whiteouts
  explicit ImageFiles(std::vector<std::filesystem::path> layers) : layers_(std::move(layers)) {}

  struct Entry {
    std::filesystem::path inside;   ///< "/usr/local/bin/python3.7": absolute, without links
    std::filesystem::path outside;  ///< its path here; for a directory: in the highest layer that has it
    bool is_directory = false;
  };
  /// Empty if the path does not exist, or is neither a file nor a directory.
  [[nodiscard]] std::optional<Entry> Find(const std::filesystem::path& inside) const;

  /// The names in a directory (Found::inside) in all layers, sorted. kFailedPrecondition: more than
  /// kNamesMax; and the errors of the file system.
  [[nodiscard]] Result<std::vector<std::string>> List(const std::filesystem::path& directory) const;

 private:
  /// Finds the entry itself; does not follow it if it is a link.
  [[nodiscard]] std::optional<std::filesystem::path> Look(const std::filesystem::path& inside) const;

  std::vector<std::filesystem::path> layers_;
};

}  // namespace trainyard::environment
