#include "cli/scratch_directory.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

namespace trainyard::cli {

Result<ScratchDirectory> ScratchDirectory::Make() {
  const char* parent = std::getenv("TMPDIR");
  std::string pattern =
      std::string(parent != nullptr && *parent != '\0' ? parent : "/tmp") + "/trainyard-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr)
    return std::unexpected(ErrnoError(errno, "make directory " + pattern));
  return ScratchDirectory(pattern);
}

ScratchDirectory::ScratchDirectory(ScratchDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace trainyard::cli
