#pragma once

#include <cstdint>
#include <span>
#include <string_view>

/// The kernel's system calls by name: the ones that a replica's program may make, and their numbers. Pure:
/// any thread. Source: system_calls.inc, and the kernel's own headers for the numbers.

namespace trainyard::container {

struct SystemCall {
  std::string_view name;
  int number = -1;  ///< -1: this architecture has no such call
};

/// The calls of one architecture. The spans are valid for the whole program.
struct CallTable {
  std::uint32_t architecture = 0;       ///< AUDIT_ARCH_*; 0: there is none
  std::span<const SystemCall> allowed;  ///< with any arguments; ordered by name
  int clone = -1;
  int clone3 = -1;
  int personality = -1;
  int socket = -1;
};

/// The calls of this program's own architecture.
[[nodiscard]] CallTable NativeCalls();
/// The calls of 32-bit programs that this machine runs as well: i386 on x86-64, else none.
[[nodiscard]] CallTable Calls32();

// Numbers of system calls from the macros of <asm/unistd.h>, which must have been included: a call that the
// headers do not have is -1 instead of an error. For system_calls_native.cc and system_calls_32.cc only.
// NOLINTBEGIN(cppcoreguidelines-macro-usage): only macros can ask whether a macro is defined, for a list of
// names

// Newer than the headers of Debian 12; since Linux 5.2 new calls have the same number everywhere.
#ifndef __NR_cachestat
#define __NR_cachestat 451
#define __NR_fchmodat2 452
#define __NR_map_shadow_stack 453
#define __NR_futex_wake 454
#define __NR_futex_wait 455
#define __NR_futex_requeue 456
#endif
#ifndef __NR_mseal
#define __NR_mseal 462
#define __NR_setxattrat 463
#define __NR_getxattrat 464
#define __NR_listxattrat 465
#define __NR_removexattrat 466
#endif

#define TRAINYARD_TEXT_OF(macro) #macro
#define TRAINYARD_TEXT(macro) TRAINYARD_TEXT_OF(macro)
#define TRAINYARD_CALL_NUMBER(name) ::trainyard::container::CallNumber(TRAINYARD_TEXT(__NR_##name))
#define TRAINYARD_CALL(name) \
  ::trainyard::container::SystemCall { #name, TRAINYARD_CALL_NUMBER(name) }
// NOLINTEND(cppcoreguidelines-macro-usage)

/// The number in the text of an expanded macro; -1 if it was not expanded because there is no such macro.
consteval int CallNumber(std::string_view text) {
  int number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

}  // namespace trainyard::container
