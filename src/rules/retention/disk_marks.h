#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

/// Levels of free space on the disk of the data directory. Pure: any thread. Source:
/// docs/adr/0050-retention.md.
namespace trainyard::retention {

/// Below this, creating a job may fail: the databases' logs, unpacking of a layer and a job's first files
/// need space.
inline constexpr std::int64_t kRefuseBelowDefault = std::int64_t{256} << 20;
/// Running jobs continue to write, and starting jobs need an environment.
inline constexpr std::int64_t kQueueBelowDefault = std::int64_t{1} << 30;
/// The minimum number of free inodes, if the file system counts them.
inline constexpr std::int64_t kFreeInodesMin = 1'000;

struct DiskMarks {
  std::int64_t queue_below = kQueueBelowDefault;    ///< below this no job starts; 0: never
  std::int64_t refuse_below = kRefuseBelowDefault;  ///< below this creates and uploads are refused; 0: never
};

struct DiskReading {
  std::string folder{};  ///< a directory on the disk
  std::int64_t free_bytes = 0;
  std::int64_t free_inodes = -1;  ///< -1: the file system does not count them
  std::string trouble{};          ///< why nothing can be written, "answers with errors"; empty: writing works
};

enum class DiskLevel {
  kEnough,
  kLow,   ///< jobs wait
  kFull,  ///< creates and uploads are refused, too; always the level of a disk with errors
};

/// The level of a reading. It only rises again at a sixteenth above the mark, so that a starting job does not
/// lower the level again at once.
[[nodiscard]] DiskLevel LevelOf(const DiskReading& reading, const DiskMarks& marks, DiskLevel before);

/// One sentence: why jobs wait at kLow and kFull.
[[nodiscard]] std::string WhyJobsWait(const DiskReading& reading, const DiskMarks& marks);
/// One sentence: what would end the wait.
[[nodiscard]] std::string WhatEndsTheWait(const DiskReading& reading, const DiskMarks& marks);
/// kResourceExhausted at kFull, or kUnavailable for a disk with errors.
[[nodiscard]] Status CheckSpace(const DiskReading& reading, const DiskMarks& marks, DiskLevel level);

/// "1.5 GiB", "900 bytes".
[[nodiscard]] std::string SpaceText(std::int64_t bytes);

}  // namespace trainyard::retention
