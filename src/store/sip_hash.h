#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace trainyard::store {

using SipHashKey = std::array<std::uint8_t, 16>;

/// SipHash-2-4: 64 bits that nobody can find without the key. Pure: any thread.
/// Source: Aumasson, Bernstein, "SipHash: a fast short-input PRF" (2012), section 2.
[[nodiscard]] std::uint64_t SipHash(const SipHashKey& key, std::string_view bytes);

/// Eight bytes, the lowest first.
[[nodiscard]] std::uint64_t LittleEndianWord(std::string_view bytes);

}  // namespace trainyard::store
