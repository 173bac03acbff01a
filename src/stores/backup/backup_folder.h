#pragma once

#include <string>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "trainyard/control/v1/backup.pb.h"

namespace trainyard::backup {

/// The format that this program writes and reads.
inline constexpr int kFormat = 1;
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

}  // namespace trainyard::backup
