#include "stores/backup/backup_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "base/async/beneath.h"
#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "base/wire/json.h"
#include "base/wire/resource_name.h"

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

/// Large, and recreated when needed.
constexpr std::array<std::string_view, 3> kMadeAnew = {"environments", "images", "attempts"};
/// All databases of a server, and the only ones that a restore accepts: SQLite also reads files whose names
/// are a database's with a suffix, and a rollback journal names files that it removes.
constexpr std::array<std::string_view, 6> kDatabases = {"trainyard.db", "objects.db", "studies.db",
                                                        "logs.db",      "metrics.db", "access.db"};
constexpr std::array<std::string_view, 7> kTrees = {
    "audit", "last-seen.json", "project-use.json", "registries", "secrets", "tls", "uploads"};
/// Files that each start writes, and files of this machine's operator: copies of older schemas, the order to
/// start nothing; and the name under which a cluster knows this directory, which a copy must not share.
constexpr std::array<std::string_view, 10> kOfThisMachine = {
    "run",        "front",         kOwnBackups,          "schema-copies",
    "drain.json", "restored.json", "restore-unfinished", "unfinished-backup",
    "engines.db", "kubernetes.db"};

bool IsBelow(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool IsOneOf(std::string_view name, const auto& names) {
  return std::ranges::find(names, name) != std::ranges::end(names);
}

}  // namespace

Result<MarkedFolder> MarkedFolder::Take(const std::string& path, const std::string& mark,
                                        const std::string& purpose) {
  std::error_code error;
  const std::string mark_path = path + "/" + mark;
  if (Exists(path) && !Exists(mark_path) && !fs::is_empty(path, error)) {
    return std::unexpected(FailedPrecondition(path + " exists and is not an unfinished " + purpose +
                                              ": choose a directory that does not exist yet"));
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
    return std::unexpected(AlreadyExists("another process writes " + purpose + " to " + path + " now"));
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
  const Result<UniqueFd> file = OpenFileBeneath(opened.get(), kManifest);
  const Result<std::string> text =
      file ? ReadFile("/proc/self/fd/" + std::to_string(file->get())) : std::unexpected(file.error());
  if (!text && text.error().code == Code::kNotFound)
    return std::unexpected(FailedPrecondition(folder + " is not a backup: it has no " + kManifest));
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

Treatment TreatmentOf(std::string_view entry) {
  if (IsOneOf(entry, kDatabases)) return Treatment::kDatabase;
  if (entry == "buckets") return Treatment::kObjects;
  return IsOneOf(entry, kTrees) ? Treatment::kCopy : Treatment::kLeaveOut;
}

std::vector<std::string> KeptBelow() { return {"run/secret", "environments/runtimes.d"}; }

bool IsDatabaseName(std::string_view name) { return TreatmentOf(name) == Treatment::kDatabase; }

bool IsTreeName(std::string_view name) {
  if (name.starts_with(kBucketDirs))
    return wire::ValidateBucketName(std::string(name.substr(kBucketDirs.size()))).has_value();
  const Treatment treatment = TreatmentOf(name);
  return IsOneOf(name, KeptBelow()) || treatment == Treatment::kCopy || treatment == Treatment::kObjects;
}

bool IsStrayName(std::string_view name) {
  const bool is_component =
      !name.empty() && name != "." && name != ".." && !name.contains('/') && !name.contains('\0');
  return is_component && !name.contains(".db") && TreatmentOf(name) == Treatment::kLeaveOut &&
         !IsOneOf(name, kMadeAnew) && !IsOneOf(name, kOfThisMachine);
}

std::vector<std::string> LeftOut() { return {kMadeAnew.begin(), kMadeAnew.end()}; }

bool MayHold(std::string_view folder, std::string_view data) {
  if (IsBelow(data, folder)) return false;
  if (!IsBelow(folder, data)) return true;
  const std::string own = std::string(data) + "/" + std::string(kOwnBackups);
  return folder != own && IsBelow(folder, own);
}

}  // namespace trainyard::backup
