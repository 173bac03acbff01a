#include "backup/restore_backup.h"

#include <filesystem>
#include <utility>

#include "async/file.h"
#include "async/random_bytes.h"
#include "backup/backup_folder.h"
#include "backup/contents.h"
#include "backup/restored_from.h"
#include "backup/tree_copier.h"
#include "image/digest.h"
#include "storage/copied_records.h"

namespace trainyard::backup {

namespace {

namespace fs = std::filesystem;
using control::v1::BackupManifest;

constexpr const char* kObjectsDatabase = "objects.db";
constexpr std::string_view kBucketDirs = "bucket-dirs/";

std::unexpected<Error> Damaged(std::string message) {
  return std::unexpected(Error{Code::kDataLoss, std::move(message), {}});
}

/// The copy is what is looked at: it is what a server will read.
Status CopyDatabase(const std::string& folder, const BackupManifest::Database& database,
                    const std::string& data) {
  const std::string source = folder + "/" + database.name();
  const std::string target = data + "/" + database.name();
  TreeCopier copier({});
  if (const Status copied = copier.Copy(source, target); !copied)
    return Damaged("the backup's " + database.name() + " cannot be copied: " + copied.error().message);
  TY_TRY(const std::string digest, image::Sha256OfFile(target));
  if (digest == database.sha256()) return {};
  return Damaged(source + " is damaged: its digest is " + digest + ", and " + database.sha256() +
                 " when it was made");
}

/// Buckets elsewhere become ordinary ones.
std::string PlaceOf(const std::string& tree) {
  return tree.starts_with(kBucketDirs) ? "buckets/" + tree.substr(kBucketDirs.size()) : tree;
}

Status CopyTree(const std::string& folder, const BackupManifest::Tree& tree, const std::string& data,
                RestoreReport& report) {
  const std::string source = folder + "/" + tree.name();
  const std::string target = data + "/" + PlaceOf(tree.name());
  TY_RETURN_IF_ERROR(MakeFolders(fs::path(target).parent_path(), 0700));
  TreeCopier copier({});
  if (const Status copied = copier.Copy(source, target); !copied)
    return Damaged("the backup's " + tree.name() + " cannot be copied: " + copied.error().message);
  report.files += copier.counts().files;
  if (copier.counts().files == tree.files()) return {};
  return Damaged(source + " has " + std::to_string(copier.counts().files) + " files, and " +
                 std::to_string(tree.files()) + " when it was made");
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
  TY_TRY(MarkedFolder target, MarkedFolder::Take(data, kUnfinishedRestore, "restore"));
  for (const BackupManifest::Database& database : manifest.databases()) {
    tell(database.name());
    TY_RETURN_IF_ERROR(CopyDatabase(folder, database, data));
  }
  for (const BackupManifest::Tree& tree : manifest.trees()) {
    tell(tree.name());
    TY_RETURN_IF_ERROR(CopyTree(folder, tree, data, report));
  }
  TY_RETURN_IF_ERROR(AdoptObjects(folder, data, report));
  control::v1::RestoredFrom from;
  from.set_data_directory(manifest.data_directory());
  from.set_machine_id(manifest.machine_id());
  *from.mutable_time() = manifest.time();
  from.set_unfinished_jobs(manifest.unfinished_jobs());
  from.set_lineage(static_cast<std::int64_t>(RandomBytes<std::uint64_t>() >> 1U) | 1);
  TY_RETURN_IF_ERROR(WriteRestoredFrom(data, from));
  tell("writing to disk");
  TY_RETURN_IF_ERROR(target.Finish());
  return report;
}

}  // namespace trainyard::backup
