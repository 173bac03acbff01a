#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/check.h"

namespace trainyard {

/// A test's temporary directory below /tmp (or TMPDIR), removed with its contents by the destructor.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(std::filesystem::temp_directory_path() / "trainyard-XXXXXX") {
    TY_CHECK(mkdtemp(path_.data()) != nullptr);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace trainyard
