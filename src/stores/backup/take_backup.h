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
  std::string folder;                                ///< where the backup goes, absolute
  std::map<std::string, std::string> bucket_dirs{};  ///< buckets elsewhere: name -> folder
  bool with_bucket_dirs = false;
  bool copy_objects = false;  ///< no hard links
  std::string program_version{};
  std::int64_t unfinished_jobs = 0;  ///< when it began
  const Clock* clock = nullptr;
};

struct BackupProgress {
  std::string phase{};          ///< "trainyard.db", "buckets"
  std::int64_t done_bytes = 0;  ///< of databases
  std::int64_t total_bytes = 0;
  std::int64_t files = 0;
  std::int64_t file_bytes = 0;
};

/// Copies a data directory while its server runs: all databases as they are at one instant after the call,
/// then uploads, objects and the rest (contents.h). What was answered before the call is in it. The folder
/// must not exist, be empty, or hold an unfinished backup; until all is on disk it is marked as unfinished.
/// Blocks for as long as it takes: a thread of its own. `tell` is called on that thread.
///
/// Errors: kInvalidArgument with field "directory"; those of MarkedFolder::Take; kCancelled: `stop`;
/// kResourceExhausted: the disk is full. docs/adr/0044-operating.md.
[[nodiscard]] Result<control::v1::BackupManifest> TakeBackup(
    const BackupOptions& options, const std::function<void(const BackupProgress& progress)>& tell,
    const std::stop_token& stop);

}  // namespace trainyard::backup
