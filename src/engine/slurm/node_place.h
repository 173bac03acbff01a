#pragma once

#include <boost/asio/ip/address.hpp>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// Whether a connection comes from where the cluster says that a node is.
namespace trainyard::engine {

/// All addresses of a name, or the one that it is; empty: it is not known here. Blocking, for as long as the
/// system's resolver takes.
[[nodiscard]] std::vector<boost::asio::ip::address> AddressesOf(const std::string& host);

/// Whether `from` is one of the node's. Where the server's own machine is the node, any two of its own
/// addresses are the same place: NodeAddr may be 127.0.1.1, and a connection comes from 127.0.0.1. Any
/// thread, if `is_own` may.
[[nodiscard]] bool IsPlaceOf(std::span<const boost::asio::ip::address> node,
                             const boost::asio::ip::address& from,
                             const std::function<bool(const boost::asio::ip::address&)>& is_own);

}  // namespace trainyard::engine
