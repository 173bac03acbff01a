#include "base/text/hex.h"

namespace trainyard::text {

namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::string Hex(std::string_view bytes) {
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4U];
    hex += kDigits[byte & 15U];
  }
  return hex;
}

std::string Hex(const unsigned char* bytes, std::size_t count) {
  return Hex({reinterpret_cast<const char*>(bytes), count});
}

std::string HexNumber(std::uint64_t number, int digits) {
  std::string hex;
  for (int i = digits - 1; i >= 0; --i) hex += kDigits[(number >> (4 * i)) & 15U];
  return hex;
}

int HexValue(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

bool IsLowerHex(std::string_view text) noexcept {
  return text.find_first_not_of(kDigits) == std::string_view::npos;
}

}  // namespace trainyard::text
