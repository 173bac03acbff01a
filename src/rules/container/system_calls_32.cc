#include <linux/audit.h>

#include <array>

#include "rules/container/system_calls.h"

// The macros of i386 have the same names as those of x86-64, so they are only in this file.
#if defined(__x86_64__)
#include <asm/unistd_32.h>

#endif

namespace trainyard::container {

#if defined(__x86_64__)

namespace {

constexpr auto kAllowed = std::to_array<SystemCall>({
#define CALL(name) TRAINYARD_CALL(name),
#include "rules/container/system_calls.inc"
#undef CALL
});

}  // namespace

CallTable Calls32() {
  return {.architecture = AUDIT_ARCH_I386,
          .allowed = kAllowed,
          .clone = TRAINYARD_CALL_NUMBER(clone),
          .clone3 = TRAINYARD_CALL_NUMBER(clone3),
          .personality = TRAINYARD_CALL_NUMBER(personality),
          .socket = TRAINYARD_CALL_NUMBER(socket)};
}

#else

CallTable Calls32() { return {}; }

#endif

}  // namespace trainyard::container
