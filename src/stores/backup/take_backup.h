#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "trainyard/control/v1/backup.pb.h"

namespace trainyard::backup {

struct BackupOptions {
  std::string data;                                  ///< the data directory, absolute
  std::string folder;                                ///< the directory for the backup, absolute
  std::map<std::string, std::string> bucket_dirs{};  ///< buckets elsewhere: name -> directory
  bool with_bucket_dirs = false;
  bool copy_objects = false;  ///< no hard links
  std::string program_version{};
  std::int64_t unfinished_jobs = 0;  ///< how many there were when the backup began
  const Clock* clock = nullptr;
};

struct BackupProgress {
  std::string phase{};          ///< "trainyard.db", "buckets"
  std::int64_t done_bytes = 0;  ///< bytes of databases
  std::int64_t total_bytes = 0;
  std::int64_t files = 0;
  std::int64_t file_bytes = 0;
};

/// Copies a data directory while its server runs: all databases as of one instant after the call, then
/// uploads, objects and the rest (backup_folder.h). It contains everything that the server had answered
/// before the call. The target directory must not exist, be empty, or contain an unfinished backup; until
/// everything is on disk it is marked as unfinished. Blocks until it is finished: call it on a separate
/// thread. `tell` is called on that thread.
///
/// Errors: kInvalidArgument with field "directory"; those of MarkedFolder::Take; kCancelled: `stop` was
/// requested; kResourceExhausted: the disk is full. docs/adr/0044-operating.md.
[[nodiscard]] Result<control::v1::BackupManifest> TakeBackup(
    const BackupOptions& options, const std::function<void(const BackupProgress& progress)>& tell,
    const std::stop_token& stop);

}  // namespace trainyard::backup
