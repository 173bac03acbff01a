#include "base/wire/utf8.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace trainyard::wire {

namespace {

constexpr std::size_t kCharacterBytesMax = 4;

unsigned char ByteAt(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

/// Whether it is a control character of Unicode, or one that changes the direction of writing. `character` is
/// well-formed and not ASCII.
bool IsObeyed(std::string_view character) {
  if (character.size() == 2) return ByteAt(character, 0) == 0xC2 && ByteAt(character, 1) < 0xA0;
  if (character.size() != 3 || ByteAt(character, 0) != 0xE2) return false;
  const unsigned char last = ByteAt(character, 2);
  return (ByteAt(character, 1) == 0x80 && last >= 0xAA && last <= 0xAE) ||
         (ByteAt(character, 1) == 0x81 && last >= 0xA6 && last <= 0xA9);
}

bool IsPlain(unsigned char byte) { return (byte >= 0x20 && byte < 0x7F) || byte == '\n' || byte == '\t'; }

void AppendEscaped(std::string_view bytes, std::string& shown) {
  constexpr std::pair<char, char> kLetters[] = {
      {'\a', 'a'}, {'\b', 'b'}, {'\f', 'f'}, {'\r', 'r'}, {'\v', 'v'}};
  for (const char byte : bytes) {
    shown += '\\';
    const auto* letter = std::ranges::find(kLetters, byte, &std::pair<char, char>::first);
    if (letter != std::end(kLetters)) {
      shown += letter->second;
      continue;
    }
    const unsigned value = static_cast<unsigned char>(byte);
    for (const unsigned shift : {6U, 3U, 0U}) shown += static_cast<char>('0' + ((value >> shift) & 7U));
  }
}

/// The number of bytes at the end of `text` that may be an incomplete character or line end.
std::size_t Unfinished(std::string_view text) {
  if (text.ends_with('\r')) return 1;
  for (std::size_t size = 1; size < kCharacterBytesMax && size <= text.size(); ++size) {
    const unsigned char byte = ByteAt(text, text.size() - size);
    if (byte < 0x80) return 0;
    if (byte < 0xC0) continue;  // continues with a character
    const std::size_t whole = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    return size < whole ? size : 0;
  }
  return 0;
}

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

std::string VisibleText(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && IsPlain(ByteAt(text, end))) ++end;
    shown.append(text, at, end - at);
    at = end;
    if (at == text.size()) break;
    const std::size_t length = std::max<std::size_t>(Utf8Length(text.substr(at)), 1);
    const std::string_view character = text.substr(at, length);
    const bool ends_line = character == "\r" && text.substr(at + 1).starts_with('\n');
    if (ends_line || (length > 1 && !IsObeyed(character)))
      shown += character;
    else
      AppendEscaped(character, shown);
    at += length;
  }
  return shown;
}

std::string VisibleStream::Next(std::string_view piece) {
  std::string text = std::exchange(rest_, {});
  text += piece;
  const std::size_t whole = text.size() - Unfinished(text);
  rest_ = text.substr(whole);
  text.resize(whole);
  return VisibleText(text);
}

std::string VisibleStream::Finish() { return VisibleText(std::exchange(rest_, {})); }

}  // namespace trainyard::wire
