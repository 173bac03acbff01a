#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "programs/image/cache.h"

namespace trainyard::image {

/// A directory for the temporary files of one call, below the pulls. The destructor removes it, and
/// CollectImages if the process was killed. One thread.
class OwnFolder {
 public:
  /// Its name begins with `prefix`.
  [[nodiscard]] static Result<OwnFolder> Make(const CacheLayout& layout, std::string_view prefix = "call-");
  OwnFolder(OwnFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  OwnFolder& operator=(OwnFolder&&) = delete;
  ~OwnFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit OwnFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace trainyard::image
