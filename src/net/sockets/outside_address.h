#pragma once

#include <boost/asio/ip/address.hpp>

/// Which addresses are the internet's.
namespace trainyard::sockets {

/// The address that is reached by it: the IPv4 address in an IPv4-mapped one (RFC 4291) and in one of NAT64
/// (64:ff9b::/96, RFC 6052), else itself. Pure: any thread.
[[nodiscard]] boost::asio::ip::address ReachedAddress(const boost::asio::ip::address& address);

/// False for private and shared networks, links, groups, 6to4 of these, Teredo and the services that
/// clouds offer to their machines. Networks for documentation are nobody's and count as global. Pure: any
/// thread. Source: IANA's registries of special-purpose addresses, "Globally Reachable"; RFC 6890.
[[nodiscard]] bool IsGlobal(const boost::asio::ip::address& address);

/// IsGlobal, and not one of this machine's own, whose services take who asks from here for a local program.
/// Any thread.
[[nodiscard]] bool IsOutside(const boost::asio::ip::address& address);

}  // namespace trainyard::sockets
