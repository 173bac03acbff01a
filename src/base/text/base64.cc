#include "base/text/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace trainyard::text {

namespace {

constexpr std::string_view kStandardAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kGroupBytes = 3;
constexpr std::size_t kGroupLetters = 4;

/// The six bits of each letter, or -1.
using Values = std::array<int, 256>;

constexpr Values ValuesOf(std::string_view alphabet) {
  Values values{};
  values.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<int>(i);
  return values;
}

constexpr Values kStandardValues = ValuesOf(kStandardAlphabet);
constexpr Values kUrlValues = ValuesOf(kUrlAlphabet);

}  // namespace

std::string Base64(std::string_view bytes, Base64Form form) {
  const std::string_view alphabet = form == Base64Form::kStandard ? kStandardAlphabet : kUrlAlphabet;
  std::string text;
  text.reserve((bytes.size() + kGroupBytes - 1) / kGroupBytes * kGroupLetters);
  for (std::size_t i = 0; i < bytes.size(); i += kGroupBytes) {
    const std::size_t have = std::min(kGroupBytes, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < kGroupBytes; ++k)
      bits = bits << 8U | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k <= have; ++k) text += alphabet[bits >> (18 - 6 * k) & 63U];
    if (form != Base64Form::kUrlBare) text.append(kGroupBytes - have, '=');
  }
  return text;
}

std::optional<std::string> FromBase64(std::string_view text, Base64Form form) {
  if (form != Base64Form::kUrlBare) {
    if (text.size() % kGroupLetters != 0) return std::nullopt;
    for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  }
  if (text.size() % kGroupLetters == 1) return std::nullopt;
  const Values& values = form == Base64Form::kStandard ? kStandardValues : kUrlValues;
  std::string bytes;
  bytes.reserve(text.size() / kGroupLetters * kGroupBytes + 2);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int value = values[static_cast<unsigned char>(c)];
    if (value < 0) return std::nullopt;
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFFU);
  }
  return bytes;
}

}  // namespace trainyard::text
