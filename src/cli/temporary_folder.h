#pragma once

#include <filesystem>

#include "base/result.h"

namespace trainyard::cli {

/// A folder below TMPDIR (or /tmp) that only we can read, removed with what is in it when this goes away.
class TemporaryFolder {
 public:
  [[nodiscard]] static Result<TemporaryFolder> Make();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;  ///< empty: moved away
};

}  // namespace trainyard::cli
