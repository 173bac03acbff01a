#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

/// Removes images. An image in use (ImageUse) is kept, and so are layers and blobs that other images share
/// with a removed one. Blocking; any thread, any process.
namespace trainyard::image {

struct CollectLimits {
  std::optional<std::int64_t> bytes_max;        ///< of all images together, on the disk; absent: any size
  std::optional<std::chrono::seconds> age_max;  ///< since they were used last; absent: any age
  std::set<std::string> needed{};               ///< digests of images to keep, for waiting jobs
  bool with_loaded = false;  ///< also remove images that came from archives and cannot be pulled again
};

struct CollectResult {
  std::vector<std::string> images;  ///< digests
  std::int64_t bytes = 0;           ///< disk space freed
};

/// Removes images that are not in use and not needed: those not used for `age_max`, then the least recently
/// used until the rest fits `bytes_max`; then layers and blobs that no image has any more, and files of
/// killed pulls. While a pull is running or a record cannot be read, only records are removed, and the rest
/// on a later call; an unreadable record is reported as a diagnostic. Notes of how images were found are kept
/// for 90 days, for queued jobs. Errors: those of the file system.
[[nodiscard]] Result<CollectResult> CollectImages(const std::string& images_dir, const CollectLimits& limits);

/// Removes one image. kNotFound; kFailedPrecondition while it is used or being pulled.
[[nodiscard]] Result<CollectResult> RemoveImage(const std::string& images_dir, const std::string& digest);

/// One image of the cache, for lists.
struct ListedImage {
  std::string digest;
  std::string reference;
  std::vector<std::string> names;
  bool loaded = false;
  bool in_use = false;
  std::int64_t size_bytes = 0;      ///< of its layers as they were pulled
  std::int64_t unpacked_bytes = 0;  ///< of the files in them
  std::size_t layers = 0;
  std::chrono::system_clock::time_point pulled{};
  std::chrono::system_clock::time_point used{};
};
/// All images whose records can be read.
[[nodiscard]] std::vector<ListedImage> ListImages(const std::string& images_dir);

/// Finds an image by its digest, by a prefix of one (6 digits or more), or by a name. Errors: kNotFound;
/// kInvalidArgument if several digests have the prefix; those of the file system.
[[nodiscard]] Result<ListedImage> FindListed(const std::string& images_dir, const std::string& text);

}  // namespace trainyard::image
