#include "base/wire/host_name.h"

#include <algorithm>
#include <cstddef>

#include "base/ascii.h"

namespace trainyard::wire {

namespace {

constexpr std::size_t kHostNameMax = 255;
constexpr int kByteMax = 255;

bool IsDigit(char c) noexcept { return '0' <= c && c <= '9'; }

bool IsNameCharacter(char c) noexcept {
  return IsDigit(c) || ('a' <= c && c <= 'z') || c == '-' || c == '.' || c == '_';
}

bool IsV6Character(char c) noexcept { return IsDigit(c) || ('a' <= c && c <= 'f') || c == ':' || c == '.'; }

/// Takes "0" to "255", without a leading zero, off the front.
bool TakeByte(std::string_view& text) noexcept {
  std::size_t digits = 0;
  int value = 0;
  while (digits < text.size() && IsDigit(text[digits]) && value <= kByteMax)
    value = value * 10 + (text[digits++] - '0');
  if (digits == 0 || value > kByteMax || (digits > 1 && text.front() == '0')) return false;
  text.remove_prefix(digits);
  return true;
}

bool IsLoopbackV4(std::string_view name) noexcept {
  if (!name.starts_with("127.")) return false;
  for (int part = 0; part < 4; ++part) {
    if (part > 0) {
      if (!name.starts_with('.')) return false;
      name.remove_prefix(1);
    }
    if (!TakeByte(name)) return false;
  }
  return name.empty();
}

/// "" or ":PORT".
bool IsPort(std::string_view text) noexcept {
  if (text.empty()) return true;
  return text.front() == ':' && std::ranges::all_of(text.substr(1), IsDigit);
}

}  // namespace

std::optional<std::string> HostNameOf(std::string_view authority) {
  if (authority.size() > kHostNameMax) return std::nullopt;
  const std::string lower = ToLower(authority);
  std::string_view text = lower;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || !IsPort(text.substr(end + 1))) return std::nullopt;
    const std::string_view address = text.substr(1, end - 1);
    if (address.empty() || !std::ranges::all_of(address, IsV6Character)) return std::nullopt;
    return std::string(address);
  }
  const std::size_t colon = std::min(text.find(':'), text.size());
  if (!IsPort(text.substr(colon))) return std::nullopt;
  std::string_view name = text.substr(0, colon);
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.empty() || !std::ranges::all_of(name, IsNameCharacter)) return std::nullopt;
  return std::string(name);
}

bool IsLoopbackName(std::string_view name) noexcept {
  return name == "localhost" || name.ends_with(".localhost") || name == "::1" || IsLoopbackV4(name);
}

}  // namespace trainyard::wire
