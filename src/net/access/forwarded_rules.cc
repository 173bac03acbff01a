#include "net/access/forwarded_rules.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "net/http/text.h"

namespace trainyard::access {

namespace {

namespace ip = boost::asio::ip;

constexpr std::size_t kAddressLengthMax = 45;  // of text: INET6_ADDRSTRLEN without its end
constexpr int kByteBits = 8;

ip::address Plain(const ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return ip::make_address_v4(ip::v4_mapped, address.to_v6());
}

bool Bit(std::span<const std::uint8_t> bytes, int bit) {
  const std::uint8_t byte = bytes[static_cast<std::size_t>(bit / kByteBits)];
  return ((byte >> (kByteBits - 1 - bit % kByteBits)) & 1) != 0;
}

/// Calls `use` with the bytes of the address.
template <class F>
auto WithBytes(const ip::address& address, F&& use) {
  if (address.is_v4()) {
    const ip::address_v4::bytes_type bytes = address.to_v4().to_bytes();
    return use(std::span<const std::uint8_t>(bytes));
  }
  const ip::address_v6::bytes_type bytes = address.to_v6().to_bytes();
  return use(std::span<const std::uint8_t>(bytes));
}

/// Names of interfaces (fe80::1%eth0) are meaningless in text from another machine.
std::optional<ip::address> ParseAddress(std::string_view text) {
  if (text.size() > kAddressLengthMax || text.contains('%')) return std::nullopt;
  boost::system::error_code error;
  const ip::address address = ip::make_address(std::string(text), error);
  if (error) return std::nullopt;
  return Plain(address);
}

/// An element of X-Forwarded-For: "192.0.2.7", "192.0.2.7:4711", "2001:db8::7", "[2001:db8::7]:4711".
std::optional<ip::address> ParseHop(std::string_view text) {
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    port = text.substr(end + 1);
    text = text.substr(1, end - 1);
    if (!text.contains(':')) return std::nullopt;
  } else if (std::ranges::count(text, ':') == 1) {
    const std::size_t colon = text.find(':');
    port = text.substr(colon);
    text = text.substr(0, colon);
  }
  if (!port.empty()) {
    const bool has_digits = port.size() > 1 && http::ParseDecimal(port.substr(1)).has_value();
    if (port.front() != ':' || !has_digits) return std::nullopt;
  }
  return ParseAddress(text);
}

bool IsTrusted(const ip::address& address, const TrustedProxies& trusted) {
  return std::ranges::any_of(trusted, [&](const AddressRange& range) { return range.Has(address); });
}

/// Removes and returns the last element of the list.
std::string_view TakeLast(std::string_view& list) {
  const std::size_t comma = list.rfind(',');
  const std::string_view last = comma == std::string_view::npos ? list : list.substr(comma + 1);
  list = comma == std::string_view::npos ? std::string_view() : list.substr(0, comma);
  return http::Trim(last);
}

std::optional<ip::address> AddressOfPeer(const http::Request& request) {
  if (request.peer == nullptr) return std::nullopt;
  const std::array<std::uint8_t, 16>& bytes = request.peer->remote.bytes;
  switch (request.peer->kind) {
    case http::Peer::Kind::kTcp4: {
      ip::address_v4::bytes_type first{};
      std::ranges::copy_n(bytes.begin(), first.size(), first.begin());
      return ip::address_v4(first);
    }
    case http::Peer::Kind::kTcp6: return ip::address_v6(bytes);
    case http::Peer::Kind::kUnix:
    case http::Peer::Kind::kUnknown: break;
  }
  return std::nullopt;
}

/// All fields of the name are one list. RFC 9110 section 5.3.
std::string Joined(const http::Headers& headers, std::string_view name) {
  std::string list;
  for (const auto& [field, value] : headers.fields()) {
    if (!EqualsIgnoringCase(field, name)) continue;
    list.append(list.empty() ? "" : ",").append(value);
  }
  return list;
}

void Look(const TrustedProxies& trusted, http::Request& request) {
  const std::optional<ip::address> peer = AddressOfPeer(request);
  if (!peer) return;
  const std::string hops = Joined(request.headers, "X-Forwarded-For");
  const std::string schemes = Joined(request.headers, "X-Forwarded-Proto");
  if (!hops.empty()) request.client_address = ClientBehind(*peer, hops, trusted).to_string();
  if (!schemes.empty()) request.scheme = SchemeBehind(*peer, schemes, request.scheme, trusted);
}

}  // namespace

bool AddressRange::Has(const ip::address& address) const {
  const ip::address plain = Plain(address);
  if (plain.is_v4() != first.is_v4()) return false;
  return WithBytes(first, [&](std::span<const std::uint8_t> own) {
    return WithBytes(plain, [&](std::span<const std::uint8_t> other) {
      for (int bit = 0; bit < bits; ++bit)
        if (Bit(own, bit) != Bit(other, bit)) return false;
      return true;
    });
  });
}

Result<AddressRange> ParseAddressRange(std::string_view text) {
  const auto refused = [text](std::string_view why) {
    return std::unexpected(InvalidArgument("", "'" + std::string(text) + "' " + std::string(why)));
  };
  const std::size_t slash = text.find('/');
  const std::optional<ip::address> address = ParseAddress(text.substr(0, slash));
  if (!address) return refused("is not ADDRESS or ADDRESS/BITS, such as 192.0.2.7 or 2001:db8::/32");
  const int length = address->is_v4() ? 32 : 128;
  AddressRange range{.first = *address, .bits = length};
  if (slash == std::string_view::npos) return range;
  const std::optional<std::uint64_t> bits = http::ParseDecimal(text.substr(slash + 1));
  if (!bits || *bits > static_cast<std::uint64_t>(length))
    return refused("has no number of bits from 0 to " + std::to_string(length) + " after the '/'");
  range.bits = static_cast<int>(*bits);
  const bool is_first = WithBytes(*address, [&](std::span<const std::uint8_t> bytes) {
    for (int bit = range.bits; bit < length; ++bit)
      if (Bit(bytes, bit)) return false;
    return true;
  });
  if (!is_first)
    return refused("is not the first address of its range: the bits after the first " +
                   std::to_string(range.bits) + " must be zero");
  return range;
}

ip::address ClientBehind(const ip::address& peer, std::string_view fields, const TrustedProxies& trusted) {
  ip::address own = Plain(peer);
  ip::address client = own;
  std::string_view rest = fields;
  for (int hops = 0; IsTrusted(client, trusted) && !rest.empty(); ++hops) {
    const std::optional<ip::address> hop = ParseHop(TakeLast(rest));
    if (!hop || hops == kForwardedHopsMax) return own;
    client = *hop;
  }
  return client;
}

std::string_view SchemeBehind(const ip::address& peer, std::string_view fields, std::string_view own,
                              const TrustedProxies& trusted) {
  if (!IsTrusted(peer, trusted)) return own;
  const std::string_view last = TakeLast(fields);
  if (EqualsIgnoringCase(last, "https")) return "https";
  if (EqualsIgnoringCase(last, "http")) return "http";
  return own;
}

bool IsForwarded(const http::Request& request, const TrustedProxies& trusted) {
  constexpr std::string_view kMany = "X-Forwarded-";
  constexpr std::array<std::string_view, 3> kFields = {"Forwarded", "Via", "X-Real-IP"};
  for (const auto& [name, value] : request.headers.fields()) {
    if (EqualsIgnoringCase(std::string_view(name).substr(0, kMany.size()), kMany)) return true;
    for (const std::string_view field : kFields)
      if (EqualsIgnoringCase(name, field)) return true;
  }
  const std::optional<ip::address> peer = AddressOfPeer(request);
  return peer && std::ranges::any_of(trusted, [&](const AddressRange& range) { return range.Has(*peer); });
}

std::function<void(http::Request& request)> LookBehind(TrustedProxies trusted) {
  if (trusted.empty()) return nullptr;
  return [trusted = std::move(trusted)](http::Request& request) { Look(trusted, request); };
}

}  // namespace trainyard::access
