#include "stores/logs/colour_codes.h"

namespace trainyard::logs {

namespace {

constexpr char kEscape = '\x1b';
constexpr std::string_view kParameters = "0123456789;:";

/// The length of the sequence at the beginning of a text that begins with "ESC ["; 0: it is not a colour
/// code.
std::size_t CodeBytes(std::string_view text) {
  const std::size_t end = text.find_first_not_of(kParameters, 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

}  // namespace

/// Searches for one byte and not for both: memchr is several times as fast as memmem for a short text.
std::optional<std::size_t> FindColourCode(std::string_view bytes, std::size_t from) {
  for (std::size_t at = from; (at = bytes.find(kEscape, at)) != std::string_view::npos; ++at)
    if (at + 1 < bytes.size() && bytes[at + 1] == '[') return at;
  return std::nullopt;
}

std::string WithoutColourCodes(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  std::size_t kept = 0;
  for (auto at = FindColourCode(text, 0); at; at = FindColourCode(text, *at + 1)) {
    const std::size_t size = CodeBytes(text.substr(*at));
    if (size == 0) continue;
    shown.append(text.substr(kept, *at - kept));
    kept = *at + size;
  }
  return shown.append(text.substr(kept));
}

}  // namespace trainyard::logs
