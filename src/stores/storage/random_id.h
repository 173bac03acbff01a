#pragma once

#include <array>
#include <string>

#include "base/async/random_bytes.h"
#include "base/text/hex.h"

namespace trainyard::storage {

/// 32 hexadecimal digits that nobody can guess (128 bits from the kernel). Any thread.
[[nodiscard]] inline std::string RandomId() {
  const auto bytes = RandomBytes<std::array<unsigned char, 16>>();
  return text::Hex(bytes.data(), bytes.size());
}

}  // namespace trainyard::storage
