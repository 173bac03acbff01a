#include "replica/utf8.h"

#include <cstdint>
#include <cstring>

namespace trainyard::replica {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

unsigned char ByteAt(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

/// Length of the well-formed character that begins at `at`; 0 if there is none.
std::size_t CharacterSize(std::string_view text, std::size_t at) noexcept {
  const unsigned char lead = ByteAt(text, at);
  if (lead < 0x80) return 1;
  std::size_t size = 0;
  unsigned char second_min = 0x80;
  unsigned char second_max = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    size = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    size = 3;
    if (lead == 0xE0) second_min = 0xA0;
    if (lead == 0xED) second_max = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    size = 4;
    if (lead == 0xF0) second_min = 0x90;
    if (lead == 0xF4) second_max = 0x8F;
  } else {
    return 0;
  }
  if (at + size > text.size()) return 0;
  if (ByteAt(text, at + 1) < second_min || ByteAt(text, at + 1) > second_max) return 0;
  for (std::size_t i = 2; i < size; ++i) {
    if ((ByteAt(text, at + i) & 0xC0) != 0x80) return 0;
  }
  return size;
}

/// Most lines are ASCII: eight bytes at a time.
std::size_t AsciiPrefix(std::string_view text, std::size_t at) noexcept {
  while (at + 8 <= text.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    if ((word & 0x8080808080808080ULL) != 0) break;
    at += 8;
  }
  while (at < text.size() && ByteAt(text, at) < 0x80) ++at;
  return at;
}

std::size_t ValidPrefix(std::string_view text, std::size_t at) noexcept {
  for (at = AsciiPrefix(text, at); at < text.size(); at = AsciiPrefix(text, at)) {
    const std::size_t size = CharacterSize(text, at);
    if (size == 0) break;
    at += size;
  }
  return at;
}

}  // namespace

std::string ReplaceInvalidUtf8(std::string text) {
  std::size_t valid = ValidPrefix(text, 0);
  if (valid == text.size()) return text;
  std::string clean;
  std::size_t begin = 0;
  while (valid < text.size()) {
    clean.append(text, begin, valid - begin).append(kReplacement);
    begin = valid + 1;
    valid = ValidPrefix(text, begin);
  }
  return clean.append(text, begin);
}

std::size_t Utf8Prefix(std::string_view text, std::size_t bytes_max) noexcept {
  if (text.size() <= bytes_max) return text.size();
  std::size_t cut = bytes_max;
  while (cut > 0 && bytes_max - cut < 3 && (ByteAt(text, cut) & 0xC0) == 0x80) --cut;
  const bool inside = cut < bytes_max && CharacterSize(text, cut) > bytes_max - cut;
  return inside ? cut : bytes_max;
}

}  // namespace trainyard::replica
