#pragma once

#include <cstdint>
#include <string_view>

namespace trainyard {

/// FNV-1a, 64 bits: the same text has the same hash on every machine and in every version. Not cryptographic.
/// Pure: any thread. Source: Fowler, Noll, Vo; draft-eastlake-fnv section 2.
[[nodiscard]] constexpr std::uint64_t Fnv1a(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace trainyard
