#pragma once

#include <filesystem>

#include "base/result.h"

namespace trainyard::cli {

/// A directory below TMPDIR (or /tmp) that only this user can read. The destructor removes it with its
/// contents.
class ScratchDirectory {
 public:
  [[nodiscard]] static Result<ScratchDirectory> Make();
  ScratchDirectory(ScratchDirectory&& other) noexcept;
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  ~ScratchDirectory();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  explicit ScratchDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;  ///< empty: moved away
};

}  // namespace trainyard::cli
