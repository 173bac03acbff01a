#include "base/wire/host_name.h"

#include <algorithm>
#include <array>
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

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kV4Size = 4;
constexpr std::size_t kV6Size = 16;

struct Range {
  std::array<std::uint8_t, kV6Size> prefix;
  int bits;
  AddressKind kind;
};

/// The first that fits wins.
constexpr std::array kV4Ranges{Range{{169, 254, 169, 254}, 32, AddressKind::kMetadata},  // AWS, Azure, Google
                               Range{{169, 254, 170, 2}, 32, AddressKind::kMetadata},    // ECS
                               Range{{100, 100, 100, 200}, 32, AddressKind::kMetadata},  // Alibaba
                               Range{{192, 0, 0, 192}, 32, AddressKind::kMetadata},      // Oracle
                               Range{{168, 63, 129, 16}, 32, AddressKind::kMetadata},    // Azure's host
                               Range{{0}, 8, AddressKind::kMachine},
                               Range{{127}, 8, AddressKind::kMachine},
                               Range{{169, 254}, 16, AddressKind::kLink},
                               Range{{10}, 8, AddressKind::kPrivate},
                               Range{{172, 16}, 12, AddressKind::kPrivate},
                               Range{{192, 168}, 16, AddressKind::kPrivate},
                               Range{{100, 64}, 10, AddressKind::kPrivate},
                               Range{{224}, 3, AddressKind::kNoMachine}};
constexpr std::array kV6Ranges{
    Range{{0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54}, 128, AddressKind::kMetadata},
    Range{{0}, 127, AddressKind::kMachine},                                    // :: and ::1
    Range{{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, AddressKind::kNoMachine},  // a site's own NAT64
    Range{{0xfe, 0x80}, 10, AddressKind::kLink},
    Range{{0xfe, 0xc0}, 10, AddressKind::kPrivate},
    Range{{0xfc}, 7, AddressKind::kPrivate},
    Range{{0xff}, 8, AddressKind::kNoMachine}};

/// IPv6 ranges that have an IPv4 address at `at`.
struct Embedding {
  std::array<std::uint8_t, kV6Size> prefix;
  int bits;
  std::size_t at;
};
constexpr std::array kEmbeddings{Embedding{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, 12},
                                 Embedding{{0}, 96, 12}, Embedding{{0x00, 0x64, 0xff, 0x9b}, 96, 12},
                                 Embedding{{0x20, 0x02}, 16, 2}};

bool Fits(Bytes bytes, const std::array<std::uint8_t, kV6Size>& prefix, int bits) {
  for (std::size_t i = 0; bits > 0; ++i, bits -= 8) {
    const auto mask = static_cast<std::uint8_t>(bits >= 8 ? 0xff : 0xff << (8 - bits));
    if (((bytes[i] ^ prefix[i]) & mask) != 0) return false;
  }
  return true;
}

AddressKind KindIn(std::span<const Range> ranges, Bytes bytes) {
  const auto fits = [bytes](const Range& range) { return Fits(bytes, range.prefix, range.bits); };
  const auto found = std::ranges::find_if(ranges, fits);
  return found == ranges.end() ? AddressKind::kOutside : found->kind;
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

AddressKind KindOfAddress(Bytes bytes) noexcept {
  if (bytes.size() == kV4Size) return KindIn(kV4Ranges, bytes);
  if (bytes.size() != kV6Size) return AddressKind::kNoMachine;
  const AddressKind kind = KindIn(kV6Ranges, bytes);
  if (kind != AddressKind::kOutside) return kind;
  for (const Embedding& embedding : kEmbeddings)
    if (Fits(bytes, embedding.prefix, embedding.bits))
      return KindIn(kV4Ranges, bytes.subspan(embedding.at, kV4Size));
  return kind;
}

}  // namespace trainyard::wire
