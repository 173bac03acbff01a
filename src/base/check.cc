#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace trainyard {

void CheckFailed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace trainyard
