#pragma once

#include <dirent.h>
#include <fcntl.h>

#include <memory>

namespace trainyard {

/// How a folder is opened that may not be a symbolic link.
inline constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};
/// A directory that is being read. One thread at a time.
using DirectoryPtr = std::unique_ptr<DIR, CloseDirectory>;

}  // namespace trainyard
