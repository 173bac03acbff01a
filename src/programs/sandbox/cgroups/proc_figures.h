#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

/// Parses numbers in the kernel's files. Pure: any thread. Source: proc(5), the kernel's cgroup documents.

namespace trainyard::replica {

/// Figures from /proc/PID/stat. Fields that cannot be parsed are 0.
struct ProcessFigures {
  std::int64_t cpu_ticks = 0;  ///< its own and those of its children that were waited for
  std::int64_t resident_pages = 0;
  friend bool operator==(const ProcessFigures&, const ProcessFigures&) = default;
};
[[nodiscard]] ProcessFigures ParseProcessStat(std::string_view stat) noexcept;

/// Figures from /proc/PID/io: bytes read from and written to disks by the process and by children that were
/// waited for.
struct DiskFigures {
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
  friend bool operator==(const DiskFigures&, const DiskFigures&) = default;
};
[[nodiscard]] DiskFigures ParseProcessIo(std::string_view io) noexcept;

/// Figures from /proc/PID/net/dev: the sum of all interfaces except the loopback.
struct NetworkFigures {
  std::int64_t received_bytes = 0;
  std::int64_t sent_bytes = 0;
  friend bool operator==(const NetworkFigures&, const NetworkFigures&) = default;
};
[[nodiscard]] NetworkFigures ParseNetworkDevices(std::string_view devices) noexcept;

/// The number after `key` and a blank at the beginning of a line (memory.stat, vmstat); 0 if there is none.
[[nodiscard]] std::int64_t FindFigure(std::string_view text, std::string_view key) noexcept;

/// Parses a text that is one number; 0 if it is none ("max").
[[nodiscard]] std::int64_t ParseFigure(std::string_view text) noexcept;

/// Parses numbers, one per line (cgroup.procs).
[[nodiscard]] std::vector<pid_t> ParsePids(std::string_view text);

/// The parent of a process from its /proc/PID/stat; -1 if the text is something else. Pure: any thread.
[[nodiscard]] pid_t ParentFromStat(std::string_view stat) noexcept;

/// Every process below `root`, at this moment.
[[nodiscard]] std::vector<pid_t> Descendants(pid_t root);

/// Kills and reaps all descendants of the calling process; returns when none is left. The caller must be a
/// child subreaper, so that it becomes the parent of orphans. For use without a PID namespace.
void KillDescendants() noexcept;

}  // namespace trainyard::replica
