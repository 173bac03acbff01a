#pragma once

#include <sys/random.h>

#include <array>
#include <string>

#include "base/check.h"
#include "text/hex.h"

namespace trainyard::storage {

/// 32 hexadecimal digits that nobody can guess (128 bits from the kernel). Any thread.
[[nodiscard]] inline std::string RandomId() {
  std::array<unsigned char, 16> bytes{};
  TY_CHECK(::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  return text::Hex(bytes.data(), bytes.size());
}

}  // namespace trainyard::storage
