#include "stores/storage/byte_meter.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/async/beneath.h"
#include "base/async/directory.h"
#include "base/async/file.h"
#include "base/wire/resource_name.h"
#include "stores/storage/buckets.h"

namespace trainyard::storage {

void ByteMeter::Set(std::map<std::string, std::int64_t> bytes) {
  bytes_.With([&bytes](auto& kept) { kept = std::move(bytes); });
}

void ByteMeter::Add(const std::string& bucket, std::int64_t more) {
  bytes_.With([&](auto& kept) {
    std::int64_t& bytes = kept[bucket];
    bytes = std::max<std::int64_t>(bytes + more, 0);  // a file from before the first measurement
  });
}

void ByteMeter::AddUnfinished(const std::string& bucket, std::int64_t more) {
  unfinished_.With([&](auto& kept) {
    if ((kept[bucket] += more) <= 0) kept.erase(bucket);
  });
}

std::map<std::string, std::int64_t> ByteMeter::ByProject() const {
  auto by_bucket = bytes_.With([](const auto& kept) { return kept; });
  unfinished_.With([&by_bucket](const auto& kept) {
    for (const auto& [bucket, bytes] : kept) by_bucket[bucket] += bytes;
  });
  std::map<std::string, std::int64_t> by_project;
  for (const auto& [bucket, bytes] : by_bucket) by_project[rules_.project_of(bucket)] += bytes;
  return by_project;
}

std::int64_t ByteMeter::OfProject(const std::string& project) const {
  const auto by_project = ByProject();
  const auto found = by_project.find(project);
  return found == by_project.end() ? 0 : found->second;
}

Status ByteMeter::Check(const std::string& bucket, std::int64_t more) const {
  if (more <= 0) return {};
  const std::string project = rules_.project_of(bucket);
  const std::optional<Limit> limit = rules_.limit_of(project);
  if (!limit) return {};
  const std::int64_t kept = OfProject(project);
  if (kept + more <= limit->bytes) return {};
  return std::unexpected(
      ResourceExhausted("Quota failure for project " + project + ". Its buckets hold " +
                        std::to_string(kept) + " bytes, and may hold " + std::to_string(limit->bytes) +
                        ". Remove objects, then write again. The server's operator sets the quota: "
                        "trainyard serve " +
                        limit->quota + "."));
}

namespace {

using Path = std::vector<std::string>;

/// The bytes of one directory's files; its subdirectories are added to `below`.
Result<std::int64_t> FilesOf(UniqueFd folder, const Path& path, std::vector<Path>& below) {
  const DirectoryPtr directory(::fdopendir(folder.get()));
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
