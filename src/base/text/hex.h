#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Hexadecimal digits. Pure: any thread. Source: RFC 4648 section 8; lower case is ours.
namespace trainyard::text {

/// Two lower-case digits for each byte.
[[nodiscard]] std::string Hex(std::string_view bytes);
[[nodiscard]] std::string Hex(const unsigned char* bytes, std::size_t count);

/// The lowest `digits` hexadecimal digits of a number, lower case, with leading zeros.
[[nodiscard]] std::string HexNumber(std::uint64_t number, int digits);

/// 0..15 for a digit of either case, -1 for any other character.
[[nodiscard]] int HexValue(char digit) noexcept;

/// Whether there are only lower-case digits.
[[nodiscard]] bool IsLowerHex(std::string_view text) noexcept;

}  // namespace trainyard::text
