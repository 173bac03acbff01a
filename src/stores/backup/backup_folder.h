#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "trainyard/control/v1/backup.pb.h"

namespace trainyard::backup {

/// The format that this program writes and reads.
inline constexpr int kFormat = 1;
/// The file with the records of all objects, in the data directory and in a backup.
inline constexpr const char* kObjectsDatabase = "objects.db";
/// Marks in a directory that is being filled, or whose filling was killed: of a backup, and of a restore.
inline constexpr const char* kUnfinishedBackup = "unfinished-backup";
inline constexpr const char* kUnfinishedRestore = "restore-unfinished";

/// A directory that is filled once: it has a mark from the beginning, which is removed when everything else
/// is on disk. Only one process at a time has it (a lock on the mark). Blocking; one thread. The destructor
/// leaves the contents, and the mark.
class MarkedFolder {
 public:
  /// Creates the directory (mode 0700). If it exists and is empty or marked, it is used and its contents are
  /// removed. kFailedPrecondition: something else is in it; kAlreadyExists: another process is filling it.
  /// `purpose`: "a backup", for the error message.
  [[nodiscard]] static Result<MarkedFolder> Take(const std::string& path, const std::string& mark,
                                                 const std::string& purpose);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// When it returns, everything in the directory is durable, and the mark is gone.
  [[nodiscard]] Status Finish();

 private:
  MarkedFolder(std::string path, std::string mark, UniqueFd lock)
      : path_(std::move(path)), mark_(std::move(mark)), lock_(std::move(lock)) {}
  std::string path_;
  std::string mark_;
  UniqueFd lock_;
};

[[nodiscard]] Status WriteManifest(const std::string& folder, const control::v1::BackupManifest& manifest);

/// kFailedPrecondition, with a sentence that says why: not a backup, an unfinished one, or one of a later
/// format.
[[nodiscard]] Result<control::v1::BackupManifest> ReadManifest(const std::string& folder);

// Which parts of a data directory are in a backup. Pure: any thread. Source: docs/operators.md, "The data
// directory".

enum class Treatment {
  kDatabase,  ///< all databases are copied as of one instant
  kObjects,   ///< linked where that is safe, else copied
  kCopy,
  kLeaveOut,  ///< recreated when needed, or only valid for this machine and moment
};

/// How an entry of the data directory is treated. What no server creates is left out, and so is what would
/// give a reader of the backup access to this server (admin-token: a start without one creates another).
[[nodiscard]] Treatment TreatmentOf(std::string_view entry);

/// Files and directories to include below entries that are otherwise left out: "run/secret". Missing ones are
/// no error.
[[nodiscard]] std::vector<std::string> KeptBelow();

/// Entries that are left out although they contain data, to be told to the operator.
[[nodiscard]] std::vector<std::string> LeftOut();

/// The directory of a data directory's own backups; they are not copied into each other.
inline constexpr std::string_view kOwnBackups = "backups";

/// Whether a backup may have a database or a tree of this name: such a name never leads out of the backup's
/// directory. "access.db"; "buckets", "run/secret", "bucket-dirs/NAME".
[[nodiscard]] bool IsDatabaseName(std::string_view name);
[[nodiscard]] bool IsTreeName(std::string_view name);
/// Other names in backups by earlier versions, which copied everything they found: no error, but not
/// restored.
[[nodiscard]] bool IsStrayName(std::string_view name);

/// Buckets outside of the data directory, each in a directory of its name.
inline constexpr std::string_view kBucketDirs = "bucket-dirs/";

/// Whether a backup of `data` may be made in `folder`: not inside the data directory, except in kOwnBackups,
/// and not in a parent of it. Both paths are absolute and normalized, without links.
[[nodiscard]] bool MayHold(std::string_view folder, std::string_view data);

}  // namespace trainyard::backup
