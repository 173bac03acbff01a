#include <asm/unistd.h>
#include <linux/audit.h>

#include <array>

#include "rules/container/system_calls.h"

#if defined(__x86_64__) && !defined(__NR_uretprobe)
#define __NR_uretprobe 335
#endif

namespace trainyard::container {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "name the AUDIT_ARCH of this architecture"
#endif

constexpr auto kAllowed = std::to_array<SystemCall>({
#define CALL(name) TRAINYARD_CALL(name),
#include "rules/container/system_calls.inc"
#undef CALL
});

}  // namespace

CallTable NativeCalls() {
  return {.architecture = kArchitecture,
          .allowed = kAllowed,
          .clone = TRAINYARD_CALL_NUMBER(clone),
          .clone3 = TRAINYARD_CALL_NUMBER(clone3),
          .personality = TRAINYARD_CALL_NUMBER(personality),
          .socket = TRAINYARD_CALL_NUMBER(socket)};
}

}  // namespace trainyard::container
