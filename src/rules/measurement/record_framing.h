#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

/// TensorFlow's record framing: length, its masked CRC32C, the contents, theirs; little-endian. Pure. Source:
/// spec hyperparameter-tuning.md section 6.
namespace trainyard::measurement {

static_assert(std::endian::native == std::endian::little);
inline constexpr std::size_t kLengthBytes = 8;
inline constexpr std::size_t kCrcBytes = 4;

[[nodiscard]] constexpr std::uint32_t MaskedCrc(std::uint32_t crc) noexcept {
  return std::rotr(crc, 15) + 0xA282EAD8U;
}

/// The value that `bytes` begins with; there are enough of them.
template <class T>
[[nodiscard]] T LoadFrom(std::string_view bytes) noexcept {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace trainyard::measurement
