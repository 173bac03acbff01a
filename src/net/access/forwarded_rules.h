#pragma once

#include <boost/asio/ip/address.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http/message.h"

/// What proxies say of those that they speak for: only those are believed that the operator named. Pure: any
/// thread. Source: RFC 7239 section 8.1 on what such fields are worth; MDN, "X-Forwarded-For", "Selecting an
/// IP address".

namespace trainyard::access {

/// The addresses that share the first `bits` bits. An IPv4 address in IPv6's form (::ffff:192.0.2.1) is that
/// IPv4 address, here and below.
struct AddressRange {
  boost::asio::ip::address first;
  int bits = 0;
  [[nodiscard]] bool Has(const boost::asio::ip::address& address) const;
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

/// "192.0.2.0/24", "2001:db8::/32", "127.0.0.1". kInvalidArgument without a field: not an address, more bits
/// than it has, or bits set after the first ones (a typing error otherwise trusts others than were meant).
[[nodiscard]] Result<AddressRange> ParseAddressRange(std::string_view text);

using TrustedProxies = std::vector<AddressRange>;

/// How many proxies there may be in a row; behind more of them the peer's own address is taken.
inline constexpr int kForwardedHopsMax = 16;

/// Which address asked. `fields`: the values of all X-Forwarded-For fields in order, joined by commas; each
/// proxy adds at the right whom it was asked by. The last one, from the right, that is no trusted proxy; the
/// first one if all are. The peer's own where it is not trusted, where there is no field, or where what has
/// to be read is no address.
[[nodiscard]] boost::asio::ip::address ClientBehind(const boost::asio::ip::address& peer,
                                                    std::string_view fields, const TrustedProxies& trusted);

/// The scheme that the client used: of the last X-Forwarded-Proto, which the nearest proxy wrote; `own` where
/// the peer is not trusted, or it is neither "http" nor "https".
[[nodiscard]] std::string_view SchemeBehind(const boost::asio::ip::address& peer, std::string_view fields,
                                            std::string_view own, const TrustedProxies& trusted);

/// Whether a proxy passed the request on: it comes from a trusted one, or has a field that proxies add. Then
/// the account of its connection is the proxy's and says nothing about who asks. A proxy that adds no field
/// and is not named (--trusted-proxy) cannot be told from a client.
[[nodiscard]] bool IsForwarded(const http::Request& request, const TrustedProxies& trusted);

/// For http::ServerOptions::look_behind_proxy: what X-Forwarded-For and X-Forwarded-Proto of trusted proxies
/// say. X-Forwarded-Host is not taken: such a proxy passes the Host on. Null where none is trusted.
[[nodiscard]] std::function<void(http::Request& request)> LookBehind(TrustedProxies trusted);

}  // namespace trainyard::access
