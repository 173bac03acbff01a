#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::warm {

/// The most modules that are learned about one runtime version.
inline constexpr std::size_t kModulesMax = 2000;
/// The most bytes of a note that a program leaves about its modules, and of what is learned: one variable of
/// a process can have 128 KiB.
inline constexpr std::size_t kNoteBytesMax = std::size_t{96} << 10;

/// The names in a note, one a line, without those that are no names of modules, or that must not be imported
/// for their own sake. The program that wrote the note is not trusted.
[[nodiscard]] std::vector<std::string> ParseModules(std::string_view note);
/// What is known, then what is new, in the order in which it was imported.
[[nodiscard]] std::vector<std::string> Joined(std::vector<std::string> known,
                                              const std::vector<std::string>& learned);
[[nodiscard]] std::string PrintModules(const std::vector<std::string>& modules);

/// A mother, as far as it matters for memory.
struct MotherUse {
  std::chrono::seconds idle{};  ///< since its last program
  std::int64_t bytes = 0;
};
struct Memory {
  std::int64_t limit = 0;      ///< for all mothers
  std::int64_t total = 0;      ///< of the machine
  std::int64_t available = 0;  ///< of the machine
};
/// Whether the machine is short of memory: then no interpreter only waits.
[[nodiscard]] bool IsShort(const Memory& memory);
/// The mothers to end, as indices: those that were idle for too long; all if the machine is short of memory;
/// the least recently used ones while all together have more than the limit.
[[nodiscard]] std::vector<std::size_t> MothersToEnd(std::span<const MotherUse> mothers, const Memory& memory);

}  // namespace trainyard::warm
