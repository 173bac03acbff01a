#include "net/access/forwarded.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"

namespace trainyard::access {

namespace {

namespace ip = boost::asio::ip;

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
