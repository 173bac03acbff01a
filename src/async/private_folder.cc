#include "async/private_folder.h"

#include <sys/stat.h>

#include <cerrno>

namespace trainyard {

namespace {

constexpr mode_t kOwnerAlone = 0700;

}  // namespace

Status MakePrivateFolder(const std::filesystem::path& path) {
  std::filesystem::path made;
  for (const std::filesystem::path& part : path) {
    made /= part;
    if (::mkdir(made.c_str(), kOwnerAlone) == 0 || errno == EEXIST) continue;
    const int reason = errno;
    struct stat there{};
    // A folder above that is read-only may say so before it says that the name is there.
    if (::stat(made.c_str(), &there) != 0 || !S_ISDIR(there.st_mode))
      return std::unexpected(ErrnoError(reason, "mkdir " + made.string()));
  }
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return {};
  return std::unexpected(ErrnoError(ENOTDIR, "mkdir " + path.string()));
}

}  // namespace trainyard
