#include "stores/backup/take_backup.h"

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/async/file.h"
#include "base/sqlite/snapshot.h"
#include "base/wire/time.h"
#include "programs/image/reference.h"
#include "stores/backup/backup_folder.h"
#include "stores/backup/backup_place.h"
#include "stores/backup/restore_backup.h"
#include "stores/backup/tree_copier.h"
#include "stores/storage/copied_records.h"

namespace trainyard::backup {

namespace {

namespace fs = std::filesystem;
using control::v1::BackupManifest;

/// Others write to the same disk between two steps: at most 4 MiB of small pages at a time.
constexpr sqlite::CopyPace kPace{.pages = 1024, .pause = std::chrono::milliseconds(2)};
/// Names that no bucket has.
constexpr const char* kNoBucket = "";
constexpr const char* kAllBuckets = "*";

/// The data directory's entries, by their treatment.
struct Plan {
  std::vector<std::string> databases;
  std::vector<std::string> trees;  ///< objects last, so that concurrent uploads are in one of both
};

Result<Plan> MakePlan(const std::string& data) {
  Plan plan;
  bool has_objects = false;
  std::error_code error;
  for (fs::directory_iterator entry(data, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    switch (TreatmentOf(name)) {
      case Treatment::kDatabase: plan.databases.push_back(name); break;
      case Treatment::kObjects: has_objects = true; break;
      case Treatment::kCopy:
        if (fs::is_regular_file(entry->path(), error) || fs::is_directory(entry->path(), error))
          plan.trees.push_back(name);
        break;
      case Treatment::kLeaveOut: break;
    }
  }
  if (error) return std::unexpected(ErrnoError(error.value(), "read " + data));
  for (const std::string& name : KeptBelow()) {
    if (fs::exists(data + "/" + name, error)) plan.trees.push_back(name);
  }
  if (has_objects) plan.trees.emplace_back("buckets");
  return plan;
}

/// The directories that jobs can see: buckets, and parts of the data directory, which may be links to other
/// disks.
Status MakePlace(const BackupOptions& options) {
  std::vector<std::string> seen;
  for (const char* name : {"/buckets", "/attempts", "/environments"}) seen.push_back(options.data + name);
  for (const auto& [name, folder] : options.bucket_dirs) seen.push_back(folder);
  return MakeBackupFolder(options.folder, options.data, seen);
}

/// One backup under way.
class Taking {
 public:
  Taking(const BackupOptions& options, const std::function<void(const BackupProgress&)>& tell,
         std::stop_token stop)
      : options_(options), tell_(tell), stop_(std::move(stop)) {}

  Result<BackupManifest> Run() {
    TY_RETURN_IF_ERROR(MakePlace(options_));
    TY_TRY(MarkedFolder folder, MarkedFolder::Take(options_.folder, kUnfinishedBackup, "backup"));
    TY_TRY(const Plan plan, MakePlan(options_.data));
    TY_RETURN_IF_ERROR(CopyDatabases(plan.databases));
    for (const std::string& name : plan.trees)
      TY_RETURN_IF_ERROR(
          CopyTree(options_.data + "/" + name, name, name == "buckets" ? kAllBuckets : kNoBucket));
    TY_RETURN_IF_ERROR(CopyBucketDirs());
    TY_RETURN_IF_ERROR(DescribeDatabases(plan.databases));
    Describe();
    Say("writing to disk");
    TY_RETURN_IF_ERROR(WriteManifest(options_.folder, manifest_));
    TY_RETURN_IF_ERROR(folder.Finish());
    return std::move(manifest_);
  }

 private:
  void Say(std::string phase) {
    progress_.phase = std::move(phase);
    if (tell_) tell_(progress_);
  }

  Status CopyDatabases(const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(options_.data + "/" + name);
    Say("holding the writers");
    TY_TRY(std::vector<sqlite::Snapshot> snapshots, sqlite::Snapshot::TakeTogether(paths));
    *manifest_.mutable_time() = wire::ToProto(options_.clock->Now());
    for (sqlite::Snapshot& snapshot : snapshots) {
      TY_TRY(const std::int64_t bytes, snapshot.Bytes());
      progress_.total_bytes += bytes;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == kObjectsDatabase) {
        TY_TRY(placed_, storage::PlacedFiles::Read(snapshots[i].database()));
        TY_TRY(storage::RecordsMeanwhile meanwhile, storage::RecordsMeanwhile::Open(paths[i]));
        meanwhile_.emplace(std::move(meanwhile));
      }
      sqlite::Snapshot snapshot = std::move(snapshots[i]);  // its end lets the write-ahead log be reused
      TY_RETURN_IF_ERROR(CopyDatabase(names[i], snapshot));
    }
    return {};
  }

  Status CopyDatabase(const std::string& name, sqlite::Snapshot& snapshot) {
    const std::string target = options_.folder + "/" + name;
    const std::int64_t before = progress_.done_bytes;
    const auto progress = [&](std::int64_t done, std::int64_t) {
      progress_.done_bytes = before + done;
      Say(name);
      return !stop_.stop_requested();
    };
    TY_RETURN_IF_ERROR(snapshot.CopyTo(target, kPace, progress));
    BackupManifest::Database& database = *manifest_.add_databases();
    database.set_name(name);
    TY_TRY(const std::int64_t schema, snapshot.SchemaVersion());
    database.set_schema_version(schema);
    TY_TRY(const auto rows, snapshot.CountRows());
    database.mutable_rows()->insert(rows.begin(), rows.end());
    return {};
  }

  /// Call it once nothing writes to them any more.
  Status DescribeDatabases(const std::vector<std::string>& names) {
    if (meanwhile_) TY_RETURN_IF_ERROR(meanwhile_->PutInto(options_.folder + "/" + kObjectsDatabase));
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string target = options_.folder + "/" + names[i];
      BackupManifest::Database& database = *manifest_.mutable_databases(static_cast<int>(i));
      std::error_code error;
      database.set_bytes(static_cast<std::int64_t>(fs::file_size(target, error)));
      TY_TRY(const std::string digest, image::Sha256OfFile(target));
      database.set_sha256(digest);
    }
    return {};
  }

  /// Copies twice: a file that is replaced while its directory is being read may be missed by one pass.
  /// @param bucket  the bucket that the directory belongs to: its name, kAllBuckets or kNoBucket.
  Status CopyTree(const std::string& source, const std::string& name, const std::string& bucket) {
    const bool may_link = bucket != kNoBucket;
    const std::string target = options_.folder + "/" + name;
    TY_RETURN_IF_ERROR(MakeFolders(fs::path(target).parent_path(), 0700));
    const std::int64_t files = progress_.files;
    const std::int64_t bytes = progress_.file_bytes;
    TreeCopier::Options how{.stop = stop_};
    if (may_link && !options_.copy_objects) {
      how.may_link = [this](const struct stat& file) { return placed_.Has(storage::StampOf(file)); };
    }
    if (may_link && meanwhile_) {
      how.before_copy = [this, below = bucket == kAllBuckets ? "" : bucket + "/"](const std::string& path,
                                                                                  const struct stat& file) {
        const storage::FileStamp stamp = storage::StampOf(file);
        return placed_.Has(stamp) ? Status() : meanwhile_->Keep(below + path, stamp);
      };
    }
    how.on_progress = [&](const TreeCounts& counts) {
      progress_.files = files + counts.files;
      progress_.file_bytes = bytes + counts.bytes;
      Say(name);
    };
    TreeCopier copier(std::move(how));
    TY_RETURN_IF_ERROR(copier.Copy(source, target));
    if (may_link) TY_RETURN_IF_ERROR(copier.Copy(source, target));
    BackupManifest::Tree& tree = *manifest_.add_trees();
    tree.set_name(name);
    tree.set_files(copier.counts().files);
    tree.set_bytes(copier.counts().bytes);
    tree.set_linked_files(copier.counts().linked_files);
    return {};
  }

  Status CopyBucketDirs() {
    manifest_.mutable_bucket_dirs()->insert(options_.bucket_dirs.begin(), options_.bucket_dirs.end());
    manifest_.set_has_bucket_dirs(options_.with_bucket_dirs && !options_.bucket_dirs.empty());
    if (!options_.with_bucket_dirs) return {};
    for (const auto& [name, folder] : options_.bucket_dirs)
      TY_RETURN_IF_ERROR(CopyTree(folder, std::string(kBucketDirs) + name, name));
    return {};
  }

  void Describe() {
    manifest_.set_format(kFormat);
    manifest_.set_program_version(options_.program_version);
    manifest_.set_data_directory(options_.data);
    manifest_.set_machine_id(MachineId());
    manifest_.set_unfinished_jobs(options_.unfinished_jobs);
    for (std::string& name : LeftOut()) manifest_.add_left_out(std::move(name));
  }

  const BackupOptions& options_;
  const std::function<void(const BackupProgress&)>& tell_;
  std::stop_token stop_;
  BackupManifest manifest_;
  BackupProgress progress_;
  storage::PlacedFiles placed_;
  std::optional<storage::RecordsMeanwhile> meanwhile_;
};

}  // namespace

Result<BackupManifest> TakeBackup(const BackupOptions& options,
                                  const std::function<void(const BackupProgress& progress)>& tell,
                                  const std::stop_token& stop) {
  return Taking(options, tell, stop).Run();
}

}  // namespace trainyard::backup
