#pragma once

#include <boost/asio/ip/address.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http/message.h"

/// Reads what proxies report about their clients. Only proxies that the operator named are trusted. Pure: any
/// thread. Source: RFC 7239 section 8.1 on what such fields are worth; MDN, "X-Forwarded-For", "Selecting an
/// IP address".

namespace trainyard::access {

/// All addresses that share the first `bits` bits of `first`. An IPv4 address in IPv6's form
/// (::ffff:192.0.2.1) is that IPv4 address, here and below.
struct AddressRange {
  boost::asio::ip::address first;
  int bits = 0;
  [[nodiscard]] bool Has(const boost::asio::ip::address& address) const;
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

/// "192.0.2.0/24", "2001:db8::/32", "127.0.0.1". kInvalidArgument without a field: not an address, more bits
/// than it has, or bits set after the first ones (a typing error would otherwise trust the wrong machines).
[[nodiscard]] Result<AddressRange> ParseAddressRange(std::string_view text);

using TrustedProxies = std::vector<AddressRange>;

/// The longest chain of proxies; behind a longer one the peer's own address is used.
inline constexpr int kForwardedHopsMax = 16;

/// The address of the client. `fields` has the values of all X-Forwarded-For fields in order, joined by
/// commas; each proxy appends the address of its own client at the right. Returns the rightmost address that
/// is not a trusted proxy, or the leftmost one if all are. Returns the peer's own address if the peer is not
/// trusted, if there is no field, or if an element that has to be read is not an address.
[[nodiscard]] boost::asio::ip::address ClientBehind(const boost::asio::ip::address& peer,
                                                    std::string_view fields, const TrustedProxies& trusted);

/// The scheme that the client used, from the last X-Forwarded-Proto, which the nearest proxy wrote. Returns
/// `own` if the peer is not trusted or the field is neither "http" nor "https".
[[nodiscard]] std::string_view SchemeBehind(const boost::asio::ip::address& peer, std::string_view fields,
                                            std::string_view own, const TrustedProxies& trusted);

/// Whether a proxy forwarded the request: it comes from a trusted proxy, or has a field that proxies add.
/// Then the account of its connection is the proxy's and does not identify the client. A proxy that adds no
/// field and is not named with --trusted-proxy cannot be distinguished from a client.
[[nodiscard]] bool IsForwarded(const http::Request& request, const TrustedProxies& trusted);

/// A function for http::ServerOptions::look_behind_proxy that applies X-Forwarded-For and X-Forwarded-Proto
/// of trusted proxies. X-Forwarded-Host is ignored: such a proxy forwards Host unchanged. Null if no proxy is
/// trusted.
[[nodiscard]] std::function<void(http::Request& request)> LookBehind(TrustedProxies trusted);

}  // namespace trainyard::access
