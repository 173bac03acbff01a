#include "base/wire/visible_text.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/wire/utf8.h"

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

}  // namespace

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
