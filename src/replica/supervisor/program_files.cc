#include "replica/supervisor/program_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace trainyard::replica {

UniqueFd OpenFolder(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

UniqueFd OpenFolderBelow(UniqueFd folder, std::string_view path) {
  while (folder && !path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string name(path.substr(0, end));
    folder.Reset(openat(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return folder;
}

UniqueFd OpenBelow(int folder, const char* name) {
  UniqueFd file(openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status{};
  if (file && (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))) file.Reset();
  return file;
}

std::size_t ReadAt(int file, std::uint64_t offset, std::span<char> buffer) {
  const ssize_t got = pread(file, buffer.data(), buffer.size(), static_cast<off_t>(offset));
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

}  // namespace trainyard::replica
