#include "base/wire/utf8.h"

#include <cstdint>
#include <cstring>

namespace trainyard::wire {
namespace {

/// Returns the end of the ASCII that begins at `at`. Most log lines are pure ASCII, so it reads eight bytes
/// at a time.
std::size_t SkipAscii(std::string_view text, std::size_t at) noexcept {
  for (std::uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080ULL) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

/// Returns the end of the well-formed characters that begin at `at`.
std::size_t SkipCharacters(std::string_view text, std::size_t at) noexcept {
  for (at = SkipAscii(text, at); at < text.size(); at = SkipAscii(text, at)) {
    const std::size_t length = Utf8Length(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

}  // namespace

std::size_t Utf8Length(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto continues = [&](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
  const unsigned first = at(0);
  const unsigned second = at(1);
  if (first < 0x80) return text.empty() ? 0 : 1;
  if (first < 0xC2 || first > 0xF4 || !continues(1)) return 0;
  if (first < 0xE0) return 2;
  if (!continues(2)) return 0;
  if (first < 0xF0) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second > 0x9F;
    return overlong || surrogate ? 0 : 3;
  }
  const bool overlong = first == 0xF0 && second < 0x90;
  const bool too_large = first == 0xF4 && second > 0x8F;
  return !continues(3) || overlong || too_large ? 0 : 4;
}

bool IsUtf8(std::string_view text) noexcept { return SkipCharacters(text, 0) == text.size(); }

std::string ReplaceMalformed(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t begin = 0;;) {
    const std::size_t end = SkipCharacters(text, begin);
    result.append(text, begin, end - begin);
    if (end == text.size()) return result;
    result.append("\xEF\xBF\xBD");
    begin = end + 1;
  }
}

std::size_t Utf8Prefix(std::string_view text, std::size_t bytes_max) noexcept {
  if (text.size() <= bytes_max) return text.size();
  std::size_t cut = bytes_max;
  while (cut > 0 && bytes_max - cut < 3 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;
  const bool inside = cut < bytes_max && Utf8Length(text.substr(cut)) > bytes_max - cut;
  return inside ? cut : bytes_max;
}

}  // namespace trainyard::wire
