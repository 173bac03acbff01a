#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/sqlite/database.h"

/// The tables of logs.db, shared by its writer and its readers.
namespace trainyard::logs {

/// No stored chunk spans more than this between its first and last timestamp (longer ones are cut), so a
/// search over all jobs knows how far before its range a chunk can begin.
inline constexpr std::chrono::nanoseconds kChunkSpanMax = std::chrono::seconds(10);

/// Opens or creates the file. Errors as sqlite::Database::Open.
[[nodiscard]] Result<sqlite::Database> OpenLogDatabase(const std::string& path, bool read_only);

struct NamedJob {
  std::int64_t uid = 0;
  std::string project;
  std::string job_id;
};
/// The job with the largest number of those that have lines; nothing: there are no lines, or no such file.
/// Opens the file only for this call. Blocking.
[[nodiscard]] Result<std::optional<NamedJob>> NewestJob(const std::string& path);

}  // namespace trainyard::logs
