#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// CPU and memory use of the whole machine, from files of the kernel.
namespace trainyard::node {

struct MachineFigures {
  std::int64_t busy_ticks = 0;  ///< of all CPUs, since the machine's boot; waiting for disks does not count
  std::int64_t all_ticks = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t memory_available_bytes = 0;  ///< without swapping; includes reclaimable page cache
  friend bool operator==(const MachineFigures&, const MachineFigures&) = default;
};

/// Zeros for what cannot be read. Reads two files of /proc: blocking, an instant.
[[nodiscard]] MachineFigures ReadMachineFigures();

/// Parses the texts of /proc/stat and /proc/meminfo. Pure. Source: proc(5).
[[nodiscard]] MachineFigures ParseMachineFigures(std::string_view stat, std::string_view meminfo);

/// How much of all CPUs was busy between two readings, 0 to 1; -1: not known.
[[nodiscard]] double BusyShare(const MachineFigures& before, const MachineFigures& now);
/// How much of the memory is in use, 0 to 1; -1: not known.
[[nodiscard]] double MemoryShare(const MachineFigures& figures);

/// "Debian GNU/Linux 12 (bookworm)", from the text of /etc/os-release. Pure. Source: os-release(5),
/// PRETTY_NAME.
[[nodiscard]] std::string SystemName(std::string_view os_release);

}  // namespace trainyard::node
