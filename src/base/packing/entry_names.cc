#include "base/packing/entry_names.h"

#include <algorithm>
#include <cstddef>

#include "base/wire/utf8.h"

namespace trainyard::packing {

namespace {

constexpr std::string_view kEmptyPart = "%2F";

void AppendEscaped(char c, std::string& out) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
}

bool IsHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f'); }

bool IsEscape(std::string_view text) {
  return text.size() >= 3 && text[0] == '%' && IsHexDigit(text[1]) && IsHexDigit(text[2]);
}

std::string SafePart(std::string_view part) {
  if (part.empty()) return std::string(kEmptyPart);
  std::string safe;
  if (part == "." || part == "..") {
    for (const char c : part) AppendEscaped(c, safe);
    return safe;
  }
  while (!part.empty()) {
    const std::size_t length = wire::Utf8Length(part);
    const char c = part.front();
    const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    const bool is_drive = c == ':' && safe.size() == 1;
    if (length == 0 || is_control || is_drive || c == '\\' || IsEscape(part)) {
      AppendEscaped(c, safe);
      part.remove_prefix(1);
    } else {
      safe += part.substr(0, length);
      part.remove_prefix(length);
    }
  }
  return safe;
}

}  // namespace

std::string EntryNames::NameOf(std::string_view object, bool is_empty) {
  while (!files_.empty() && !object.starts_with(files_.back())) files_.pop_back();
  std::string name = top_;
  std::size_t begin = 0;
  for (std::size_t slash = object.find('/'); slash != std::string_view::npos;
       slash = object.find('/', begin)) {
    name.append("/").append(SafePart(object.substr(begin, slash - begin)));
    if (std::ranges::find(files_, object.substr(0, slash)) != files_.end()) name += kEmptyPart;
    begin = slash + 1;
  }
  name += '/';
  if (begin == object.size() && is_empty) return name;
  name += SafePart(object.substr(begin));
  files_.emplace_back(object);
  return name;
}

}  // namespace trainyard::packing
