#include "net/grpc/grpc_text.h"

#include <algorithm>
#include <limits>

#include "base/ascii.h"
#include "base/check.h"
#include "base/number.h"
#include "base/text/base64.h"
#include "base/text/hex.h"
#include "base/wire/utf8.h"

namespace trainyard::grpc {

namespace {

constexpr std::size_t kTimeoutDigitsMax = 8;
constexpr std::string_view kHexDigits = "0123456789ABCDEF";

std::optional<std::chrono::nanoseconds> UnitOf(char letter) noexcept {
  switch (letter) {
    case 'H': return std::chrono::hours(1);
    case 'M': return std::chrono::minutes(1);
    case 'S': return std::chrono::seconds(1);
    case 'm': return std::chrono::milliseconds(1);
    case 'u': return std::chrono::microseconds(1);
    case 'n': return std::chrono::nanoseconds(1);
    default: return std::nullopt;
  }
}

bool IsPlain(char c) noexcept { return c >= ' ' && c <= '~' && c != '%'; }

}  // namespace

std::optional<std::chrono::nanoseconds> ParseTimeout(std::string_view text) noexcept {
  if (text.size() < 2 || text.size() > kTimeoutDigitsMax + 1) return std::nullopt;
  const auto unit = UnitOf(text.back());
  const auto count = WholeNumber<std::uint32_t>(text.substr(0, text.size() - 1));
  if (!unit || !count) return std::nullopt;
  constexpr std::chrono::nanoseconds kMax = kTimeoutMax;
  if (*count > kMax.count() / unit->count()) return kMax;
  return *unit * *count;
}

std::optional<MessagePrefix> ParsePrefix(std::string_view bytes) noexcept {
  if (bytes.size() < kPrefixBytes) return std::nullopt;
  const auto flags = static_cast<unsigned char>(bytes[0]);
  if (flags > 1) return std::nullopt;
  MessagePrefix prefix{.is_compressed = flags == 1};
  for (const char c : bytes.substr(1, kPrefixBytes - 1))
    prefix.size = prefix.size << 8U | static_cast<unsigned char>(c);
  return prefix;
}

std::string PrintMessage(std::string_view message) {
  TY_CHECK(message.size() <= std::numeric_limits<std::uint32_t>::max());
  const auto size = static_cast<std::uint32_t>(message.size());
  std::string printed(1, '\0');
  printed.reserve(kPrefixBytes + message.size());
  for (unsigned shift = 32; shift > 0; shift -= 8) printed += static_cast<char>(size >> (shift - 8) & 0xffU);
  return printed.append(message);
}

std::string PrintStatusText(std::string_view text) {
  std::string printed;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, std::max<std::size_t>(wire::Utf8Length(text), 1));
    std::string encoded;
    for (const char c : character) {
      const auto byte = static_cast<unsigned char>(c);
      if (IsPlain(c)) {
        encoded += c;
      } else {
        encoded += {'%', kHexDigits[byte >> 4U], kHexDigits[byte & 15U]};
      }
    }
    if (printed.size() + encoded.size() > kStatusFieldBytesMax) break;
    printed += encoded;
    text.remove_prefix(character.size());
  }
  return printed;
}

std::string ParseStatusText(std::string_view value) {
  std::string text;
  text.reserve(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) {
    const int high = value[i] == '%' && i + 2 < value.size() ? text::HexValue(value[i + 1]) : -1;
    const int low = high >= 0 ? text::HexValue(value[i + 2]) : -1;
    if (low < 0) {
      text += value[i];
    } else {
      text += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return text;
}

std::string PrintBinary(std::string_view bytes) {
  std::string printed = text::Base64(bytes);
  printed.resize(printed.find_last_not_of('=') + 1);  // npos + 1 is 0
  return printed;
}

std::optional<std::string> ParseBinary(std::string_view value) {
  std::string padded(value);
  if (!value.ends_with('=')) padded.append((4 - value.size() % 4) % 4, '=');
  return text::FromBase64(padded);
}

bool IsGrpc(std::string_view content_type) noexcept {
  const std::string_view type = TrimSpace(content_type.substr(0, content_type.find(';')));
  return EqualsIgnoringCase(type, "application/grpc") || EqualsIgnoringCase(type, "application/grpc+proto");
}

}  // namespace trainyard::grpc
