#include "stores/backup/backup_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "base/wire/json.h"
#include "stores/storage/beneath.h"

namespace trainyard::backup {

namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "backup.json";

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

/// Removes everything except the mark.
Status Empty(const std::string& folder, const std::string& mark) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename() != mark) TY_RETURN_IF_ERROR(RemoveTree(entry->path()));
  }
  if (error) return std::unexpected(ErrnoError(error.value(), "read " + folder));
  return {};
}

}  // namespace

Result<MarkedFolder> MarkedFolder::Take(const std::string& path, const std::string& mark,
                                        const std::string& purpose) {
  std::error_code error;
  const std::string mark_path = path + "/" + mark;
  if (Exists(path) && !Exists(mark_path) && !fs::is_empty(path, error)) {
    return std::unexpected(FailedPrecondition(path + " is there and is no unfinished " + purpose +
                                              ": name a folder that does not exist yet"));
  }
  TY_RETURN_IF_ERROR(MakeFolders(path, 0700));
  TY_TRY(const UniqueFd folder, OpenFile(path, O_RDONLY | O_DIRECTORY));
  if (::fchmod(folder.get(), 0700) != 0) return std::unexpected(ErrnoError(errno, "chmod " + path));
  UniqueFd lock(::openat(folder.get(), mark.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock && errno == ELOOP)
    return std::unexpected(FailedPrecondition(mark_path + " is a link, which no unfinished " + purpose +
                                              " has: remove it, or name another folder"));
  if (!lock) return std::unexpected(ErrnoError(errno, "open " + mark_path));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return std::unexpected(
        Error{Code::kAlreadyExists, "another process writes " + purpose + " to " + path + " now", {}});
  }
  TY_RETURN_IF_ERROR(SyncDirectory(path));
  TY_RETURN_IF_ERROR(Empty(path, mark));
  return MarkedFolder(path, mark, std::move(lock));
}

Status MarkedFolder::Finish() {
  TY_TRY(const UniqueFd folder, OpenFile(path_, O_RDONLY | O_DIRECTORY));
  if (::syncfs(folder.get()) != 0) return std::unexpected(ErrnoError(errno, "sync " + path_));
  if (::unlinkat(folder.get(), mark_.c_str(), 0) != 0)
    return std::unexpected(ErrnoError(errno, "remove " + path_ + "/" + mark_));
  if (::fsync(folder.get()) != 0) return std::unexpected(ErrnoError(errno, "sync " + path_));
  return SyncDirectory(fs::path(path_).parent_path());
}

Status WriteManifest(const std::string& folder, const control::v1::BackupManifest& manifest) {
  return WriteFileAtomically(folder + "/" + kManifest, wire::PrintJson(manifest), 0600);
}

Result<control::v1::BackupManifest> ReadManifest(const std::string& folder) {
  if (Exists(folder + "/" + kUnfinishedBackup)) {
    return std::unexpected(FailedPrecondition(
        folder + " is an unfinished backup: it was interrupted, and nothing can be restored from it"));
  }
  TY_TRY(const UniqueFd opened, OpenFile(folder, O_RDONLY | O_DIRECTORY));
  const Result<UniqueFd> file = storage::OpenFileBeneath(opened.get(), kManifest);
  const Result<std::string> text =
      file ? ReadFile("/proc/self/fd/" + std::to_string(file->get())) : std::unexpected(file.error());
  if (!text && text.error().code == Code::kNotFound)
    return std::unexpected(FailedPrecondition(folder + " is no backup: it has no " + kManifest));
  if (!text) return std::unexpected(text.error());
  control::v1::BackupManifest manifest;
  if (const Status parsed = wire::ParseJson(*text, manifest, ""); !parsed)
    return std::unexpected(
        FailedPrecondition(folder + "/" + kManifest + " cannot be read: " + parsed.error().message));
  if (manifest.format() == kFormat) return manifest;
  return std::unexpected(FailedPrecondition(
      folder + " is a backup of format " + std::to_string(manifest.format()) + " (trainyard " +
      manifest.program_version() + "); this program reads format " + std::to_string(kFormat)));
}

}  // namespace trainyard::backup
