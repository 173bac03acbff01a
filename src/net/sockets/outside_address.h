#pragma once

#include <boost/asio/ip/address.hpp>

/// Which addresses belong to the internet.
namespace trainyard::sockets {

/// The address that `address` leads to: the IPv4 address in an IPv4-mapped one (RFC 4291) and in one of NAT64
/// (64:ff9b::/96, RFC 6052), else itself. Pure: any thread.
[[nodiscard]] boost::asio::ip::address ReachedAddress(const boost::asio::ip::address& address);

/// False for private and shared networks, links, groups, 6to4 of these, Teredo and the services that clouds
/// offer to their machines. Networks reserved for documentation are unused and count as global. Pure: any
/// thread. Source: IANA's registries of special-purpose addresses, "Globally Reachable"; RFC 6890.
[[nodiscard]] bool IsGlobal(const boost::asio::ip::address& address);

/// Whether the address is global and not one of this machine's own. Services of this machine would take such
/// a client for a local program. Any thread.
[[nodiscard]] bool IsOutside(const boost::asio::ip::address& address);

}  // namespace trainyard::sockets
