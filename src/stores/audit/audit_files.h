#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

/// The files of the audit log.
namespace trainyard::audit {

/// "audit-20261123-1.jsonl": the entries of one day (UTC), in order. A day has several files if one was full
/// or the clock was turned back.
struct AuditFile {
  std::chrono::sys_days day;
  std::int64_t number = 1;  ///< from 1, within the day
  std::int64_t bytes = 0;

  [[nodiscard]] std::string Name() const;
  /// Nothing: not a file of this log. Pure: any thread.
  [[nodiscard]] static std::optional<AuditFile> Parse(std::string_view name);
  /// Orders by day and number, which is the order of their entries.
  [[nodiscard]] std::weak_ordering operator<=>(const AuditFile& other) const noexcept {
    if (const auto order = day <=> other.day; order != 0) return order;
    return number <=> other.number;
  }
  [[nodiscard]] bool operator==(const AuditFile& other) const noexcept {
    return day == other.day && number == other.number;
  }
};

/// All audit files with their sizes, in order. Empty if there is no directory. Errors: the file system's. Any
/// thread.
[[nodiscard]] Result<std::vector<AuditFile>> ListAuditFiles(const std::string& folder);

struct Retention {
  std::chrono::days days_max{400};                 ///< since the file's day
  std::int64_t bytes_max = std::int64_t{2} << 30;  ///< of all files together
};
/// A file to remove, and the reason for the server's log.
struct Removal {
  AuditFile file;
  std::string reason;
};
/// The files to remove, oldest first. `files` are in order; `current` is being written to and is never
/// removed. Pure: any thread.
[[nodiscard]] std::vector<Removal> FilesToRemove(std::span<const AuditFile> files, const AuditFile& current,
                                                 std::chrono::sys_days today, const Retention& retention);

}  // namespace trainyard::audit
