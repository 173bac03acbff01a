#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "sqlite/database.h"

/// The tables of logs.db, shared by its writer and its readers.
namespace trainyard::logs {

/// No stored chunk spans more than this between its first and last timestamp (longer ones are cut), so a
/// search over all jobs knows how far before its range a chunk can begin.
inline constexpr std::chrono::nanoseconds kChunkSpanMax = std::chrono::seconds(10);

/// Opens or creates the file. Errors as sqlite::Database::Open.
[[nodiscard]] Result<sqlite::Database> OpenLogDatabase(const std::string& path, bool read_only);

}  // namespace trainyard::logs
