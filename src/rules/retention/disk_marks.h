#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

/// What free space on the disk of the data directory means. Pure: any thread. Source:
/// docs/adr/0050-retention.md.
namespace trainyard::retention {

/// Below this a create may fail: the databases' logs, a layer's unpacking and a job's first files need it.
inline constexpr std::int64_t kRefuseBelowDefault = std::int64_t{256} << 20;
/// What runs goes on to write meanwhile, and what begins needs an environment.
inline constexpr std::int64_t kQueueBelowDefault = std::int64_t{1} << 30;
/// So many files have to be possible, where the file system counts them.
inline constexpr std::int64_t kFreeInodesMin = 1'000;

struct DiskMarks {
  std::int64_t queue_below = kQueueBelowDefault;    ///< no job begins; 0: never
  std::int64_t refuse_below = kRefuseBelowDefault;  ///< creates and uploads are refused; 0: never
};

struct DiskReading {
  std::string folder{};  ///< on the disk that was looked at
  std::int64_t free_bytes = 0;
  std::int64_t free_inodes = -1;  ///< -1: the file system does not count them
  std::string trouble{};          ///< why nothing can be written, "answers with errors"; empty: something can
};

enum class DiskLevel {
  kEnough,
  kLow,   ///< jobs wait
  kFull,  ///< creates and uploads are refused, too; whatever the marks are for a disk in trouble
};

/// The level that the reading means. Up again only with a sixteenth more than the mark, so that a job that
/// begins does not bring the level back at once.
[[nodiscard]] DiskLevel LevelOf(const DiskReading& reading, const DiskMarks& marks, DiskLevel before);

/// One sentence: why jobs wait at kLow and kFull.
[[nodiscard]] std::string WhyJobsWait(const DiskReading& reading, const DiskMarks& marks);
/// One sentence: what would end the wait.
[[nodiscard]] std::string WhatEndsTheWait(const DiskReading& reading, const DiskMarks& marks);
/// At kFull kResourceExhausted, or kUnavailable for a disk in trouble.
[[nodiscard]] Status CheckSpace(const DiskReading& reading, const DiskMarks& marks, DiskLevel level);

/// "1.5 GiB", "900 bytes".
[[nodiscard]] std::string SpaceText(std::int64_t bytes);

}  // namespace trainyard::retention
