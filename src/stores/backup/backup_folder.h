#pragma once

#include <string>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "trainyard/control/v1/backup.pb.h"

namespace trainyard::backup {

/// The format that this program writes and reads.
inline constexpr int kFormat = 1;
/// In a folder that is being filled, or whose filling was killed: of a backup, and of what one is put back
/// to.
inline constexpr const char* kUnfinishedBackup = "unfinished-backup";
inline constexpr const char* kUnfinishedRestore = "restore-unfinished";

/// A folder that is filled once: it has a mark from the first moment on, which goes when all else is on disk.
/// Held by one process at a time (a lock on the mark). Blocking; one thread. The destructor leaves what is
/// there, marked.
class MarkedFolder {
 public:
  /// Makes the folder (mode 0700). One that is empty, or marked, is taken and what it holds removed.
  /// kFailedPrecondition: something else is in it; kAlreadyExists: another process fills it. `purpose`: "a
  /// backup", for the refusal.
  [[nodiscard]] static Result<MarkedFolder> Take(const std::string& path, const std::string& mark,
                                                 const std::string& purpose);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Everything in it is durable when it returns, and the mark is gone.
  [[nodiscard]] Status Finish();

 private:
  MarkedFolder(std::string path, std::string mark, UniqueFd lock)
      : path_(std::move(path)), mark_(std::move(mark)), lock_(std::move(lock)) {}
  std::string path_;
  std::string mark_;
  UniqueFd lock_;
};

[[nodiscard]] Status WriteManifest(const std::string& folder, const control::v1::BackupManifest& manifest);

/// kFailedPrecondition: it is no backup, an unfinished one, or one of a later format, with a sentence.
[[nodiscard]] Result<control::v1::BackupManifest> ReadManifest(const std::string& folder);

}  // namespace trainyard::backup
