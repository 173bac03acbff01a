#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// The kernel's system calls by name: which a replica's program may make, and their numbers. Pure: any
/// thread. Source: system_calls.inc, and the kernel's own headers for the numbers.
namespace trainyard::container {

struct SystemCall {
  std::string_view name;
  int number = -1;  ///< -1: this architecture has no such call
};

/// The calls of one architecture. The spans are valid for the whole program.
struct CallTable {
  std::uint32_t architecture = 0;       ///< AUDIT_ARCH_*; 0: there is none
  std::span<const SystemCall> allowed;  ///< whatever their arguments; by name
  int clone = -1;
  int clone3 = -1;
  int personality = -1;
  int socket = -1;
};

/// Of this program's own architecture.
[[nodiscard]] CallTable NativeCalls();
/// Of the 32-bit programs that this machine runs as well: i386 on x86-64, else none.
[[nodiscard]] CallTable Calls32();

}  // namespace trainyard::container
