#include "stores/backup/restore_backup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "base/async/beneath.h"
#include "base/async/file.h"
#include "base/async/random_bytes.h"
#include "base/sqlite/salvage.h"
#include "base/wire/json.h"
#include "base/wire/time.h"
#include "programs/image/reference.h"
#include "stores/backup/backup_folder.h"
#include "stores/backup/tree_copier.h"
#include "stores/storage/copied_records.h"

namespace trainyard::backup {
namespace {

namespace fs = std::filesystem;
using control::v1::BackupManifest;

std::unexpected<Error> Damaged(std::string message) { return std::unexpected(DataLoss(std::move(message))); }

/// An open directory, and its path for messages.
struct OpenedFolder {
  UniqueFd folder;
  std::string path;
};

Result<OpenedFolder> OpenTop(const std::string& path) {
  TY_TRY(UniqueFd folder, OpenFile(path, O_RDONLY | O_DIRECTORY));
  return OpenedFolder{.folder = std::move(folder), .path = path};
}

/// Accepts only names that a backup uses, before anything is written: so no name leads elsewhere.
Status CheckNames(const BackupManifest& manifest) {
  const auto foreign = [](const std::string& name) {
    return std::unexpected(FailedPrecondition(
        "backup.json names '" + name + "', which no backup has: it was changed, or not made by trainyard"));
  };
  for (const BackupManifest::Database& database : manifest.databases())
    if (!IsDatabaseName(database.name())) return foreign(database.name());
  for (const BackupManifest::Tree& tree : manifest.trees())
    if (!IsTreeName(tree.name()) && !IsStrayName(tree.name())) return foreign(tree.name());
  return {};
}

/// Checks the copy and not the original, because the copy is what a server will read.
Status CopyDatabase(const OpenedFolder& from, const BackupManifest::Database& database,
                    const OpenedFolder& to) {
  const std::string target = to.path + "/" + database.name();
  TreeCopier copier({.refuses_links = true});
  if (const Status copied = copier.CopyAt(from.folder.get(), to.folder.get(), database.name()); !copied)
    return Damaged("the backup's " + database.name() + " cannot be copied: " + copied.error().message);
  TY_TRY(const std::string digest, image::Sha256OfFile(target));
  if (digest == database.sha256()) return sqlite::CheckForeign(target);
  return Damaged(from.path + "/" + database.name() + " is damaged: its digest is " + digest + ", and " +
                 database.sha256() + " when it was made");
}

/// Buckets outside of the data directory become ordinary ones.
std::string PlaceOf(const std::string& tree) {
  return tree.starts_with(kBucketDirs) ? "buckets/" + tree.substr(kBucketDirs.size()) : tree;
}

/// The directory that contains `name` ("run/secret"), reached without following a link.
Result<UniqueFd> FolderOf(const OpenedFolder& top, const std::string& name) {
  std::vector<std::string> above;
  for (const fs::path& each : fs::path(name).parent_path()) above.push_back(each);
  return OpenFolderBeneath(top.folder.get(), above);
}

/// Links in buckets are made by programs, and no server follows them; it would follow a link among its own
/// files.
Status CopyTree(const OpenedFolder& from, const BackupManifest::Tree& tree, const OpenedFolder& to,
                RestoreReport& report) {
  const std::string place = PlaceOf(tree.name());
  TY_RETURN_IF_ERROR(MakeFolders(fs::path(to.path + "/" + place).parent_path(), 0700));
  TreeCopier copier({.refuses_links = place != "buckets" && !place.starts_with("buckets/")});
  Result<UniqueFd> source = FolderOf(from, tree.name());
  if (!source) return Damaged("the backup has no " + tree.name());
  TY_TRY(const UniqueFd target, FolderOf(to, place));
  const std::string name = fs::path(place).filename();
  if (const Status copied = copier.CopyAt(source->get(), target.get(), name); !copied)
    return Damaged("the backup's " + tree.name() + " cannot be copied: " + copied.error().message);
  report.files += copier.counts().files;
  if (copier.counts().files == tree.files()) return {};
  return Damaged(from.path + "/" + tree.name() + " has " + std::to_string(copier.counts().files) +
                 " files, and " + std::to_string(tree.files()) + " when it was made");
}

Status AdoptObjects(const std::string& folder, const std::string& data, RestoreReport& report) {
  std::error_code error;
  if (!fs::exists(data + "/" + kObjectsDatabase, error)) return {};
  TY_TRY(storage::AdoptedCopies adopted,
         storage::AdoptCopies(data + "/" + kObjectsDatabase, folder + "/buckets", data + "/buckets"));
  report.changed_count = adopted.changed_count;
  report.changed = std::move(adopted.changed);
  return {};
}

constexpr std::size_t kSmallFileBytesMax = 64 * 1024;

std::string PathIn(const std::string& data) { return data + "/restored.json"; }

}  // namespace

Result<RestoreReport> RestoreBackup(const std::string& folder, const std::string& data,
                                    const std::function<void(const std::string& name)>& tell) {
  RestoreReport report;
  TY_TRY(report.manifest, ReadManifest(folder));
  const BackupManifest& manifest = report.manifest;
  if (!MayHold(data, folder)) {
    return std::unexpected(
        FailedPrecondition(data + " is in the backup or around it: name a folder elsewhere"));
  }
  TY_RETURN_IF_ERROR(CheckNames(manifest));
  TY_TRY(MarkedFolder target, MarkedFolder::Take(data, kUnfinishedRestore, "restore"));
  TY_TRY(const OpenedFolder from, OpenTop(folder));
  TY_TRY(const OpenedFolder to, OpenTop(data));
  for (const BackupManifest::Database& database : manifest.databases()) {
    tell(database.name());
    TY_RETURN_IF_ERROR(CopyDatabase(from, database, to));
  }
  for (const BackupManifest::Tree& tree : manifest.trees()) {
    if (!IsTreeName(tree.name())) {
      tell(tree.name() + " stays where it is: no server needs it");
      continue;
    }
    tell(tree.name());
    TY_RETURN_IF_ERROR(CopyTree(from, tree, to, report));
  }
  TY_RETURN_IF_ERROR(AdoptObjects(folder, data, report));
  control::v1::RestoredFrom origin;
  origin.set_data_directory(manifest.data_directory());
  origin.set_machine_id(manifest.machine_id());
  *origin.mutable_time() = manifest.time();
  origin.set_unfinished_jobs(manifest.unfinished_jobs());
  origin.set_lineage(static_cast<std::int64_t>(RandomBytes<std::uint64_t>() >> 1U) | 1);
  TY_RETURN_IF_ERROR(WriteRestoredFrom(data, origin));
  tell("writing to disk");
  TY_RETURN_IF_ERROR(target.Finish());
  return report;
}

std::string MachineId() {
  std::string id = ReadFile("/etc/machine-id", kSmallFileBytesMax).value_or("");
  while (id.ends_with('\n')) id.pop_back();
  return id;
}

Status WriteRestoredFrom(const std::string& data, const control::v1::RestoredFrom& from) {
  return WriteFileAtomically(PathIn(data), wire::PrintJson(from), 0600);
}

std::optional<control::v1::RestoredFrom> ReadRestoredFrom(const std::string& data) {
  const Result<std::string> text = ReadFile(PathIn(data), kSmallFileBytesMax);
  control::v1::RestoredFrom from;
  if (!text || !wire::ParseJson(*text, from, "")) return std::nullopt;
  return from;
}

std::int64_t LineageOf(const std::string& data) {
  const std::optional<control::v1::RestoredFrom> from = ReadRestoredFrom(data);
  if (!from) return 0;
  // An older version's restore did not set it.
  return from->lineage() != 0 ? from->lineage() : wire::FromProto(from->time()).time_since_epoch().count();
}

std::string FormerAttempts(const std::string& data) {
  const std::optional<control::v1::RestoredFrom> from = ReadRestoredFrom(data);
  if (!from || from->machine_id().empty() || from->machine_id() != MachineId()) return {};
  const std::string attempts = from->data_directory() + "/attempts";
  std::error_code error;
  struct stat status{};
  // The path comes from the backup; it is only used if it can be a directory of a server of this account.
  if (::lstat(attempts.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return {};
  if (status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return {};
  return std::filesystem::equivalent(attempts, data + "/attempts", error) ? std::string() : attempts;
}

Status ForgetFormer(const std::string& data) {
  std::optional<control::v1::RestoredFrom> from = ReadRestoredFrom(data);
  if (!from) return {};
  from->clear_machine_id();
  return WriteRestoredFrom(data, *from);
}

}  // namespace trainyard::backup
