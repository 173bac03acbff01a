#include "stores/storage/bucket_bytes.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/wire/resource_name.h"
#include "stores/storage/beneath.h"

namespace trainyard::storage {
namespace {

using Path = std::vector<std::string>;

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

/// The bytes of one directory's files; its subdirectories are added to `below`.
Result<std::int64_t> FilesOf(UniqueFd folder, const Path& path, std::vector<Path>& below) {
  const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(folder.get()));
  if (!directory) return std::unexpected(ErrnoError(errno, "read a bucket's folder"));
  const int descriptor = folder.Release();  // owned by `directory` from here on
  std::int64_t bytes = 0;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat status{};
    if (::fstatat(descriptor, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(status.st_mode)) bytes += status.st_size;
    if (!S_ISDIR(status.st_mode)) continue;
    below.push_back(path);
    below.back().emplace_back(name);
  }
  return bytes;
}

/// All files in the directory and below.
Result<std::int64_t> FolderBytes(int folder) {
  std::int64_t bytes = 0;
  std::vector<Path> left{Path()};
  while (!left.empty()) {
    const Path path = std::move(left.back());
    left.pop_back();
    Result<UniqueFd> opened = OpenFolderBeneath(folder, path);
    if (!opened && opened.error().code == Code::kNotFound) continue;
    if (!opened) return std::unexpected(opened.error());
    TY_TRY(const std::int64_t own, FilesOf(*std::move(opened), path, left));
    bytes += own;
  }
  return bytes;
}

}  // namespace

Result<std::map<std::string, std::int64_t>> MeasureBuckets(const BucketOptions& options) {
  std::map<std::string, std::int64_t> measured;
  std::map<std::string, std::filesystem::path> folders = options.elsewhere;
  TY_TRY(const UniqueFd buckets, OpenFile(options.data / "buckets", O_RDONLY | O_DIRECTORY));
  TY_TRY(UniqueFd listed, OpenFolderBeneath(buckets.get(), {}));
  std::vector<Path> names;
  TY_TRY(const std::int64_t beside, FilesOf(std::move(listed), {}, names));
  std::ignore = beside;  // files that are in no bucket
  for (const Path& name : names)
    if (wire::ValidateBucketName(name.front())) folders.emplace(name.front(), "");
  for (const auto& [name, elsewhere] : folders) {
    Result<UniqueFd> folder = elsewhere.empty() ? OpenFolderBeneath(buckets.get(), std::span(&name, 1))
                                                : OpenFile(elsewhere, O_RDONLY | O_DIRECTORY);
    if (!folder) continue;  // a file, a link, or deleted
    TY_TRY(measured[name], FolderBytes(folder->get()));
  }
  return measured;
}

}  // namespace trainyard::storage
