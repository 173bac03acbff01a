#pragma once

namespace trainyard {

/// Prints the broken condition with its source location to stderr and aborts. For bugs only: user input must
/// never cause this.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line) noexcept;

}  // namespace trainyard

/// A condition that only a bug can break; checked in every build.
#define TY_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::trainyard::CheckFailed(#condition, __FILE__, __LINE__))
