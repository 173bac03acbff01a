#pragma once

#include <boost/asio/ip/address.hpp>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// Checks whether a connection comes from the node that the cluster names.
namespace trainyard::engine {

/// All addresses of a name; for a numeric address, that address; empty: it cannot be resolved here. Blocks
/// for as long as the system's resolver takes.
[[nodiscard]] std::vector<boost::asio::ip::address> AddressesOf(const std::string& host);

/// Whether `from` is one of the node's addresses. If the node is the server's own machine, all of its
/// addresses count as the same place: NodeAddr may be 127.0.1.1, and a connection comes from 127.0.0.1. Any
/// thread, if `is_own` allows that.
[[nodiscard]] bool IsPlaceOf(std::span<const boost::asio::ip::address> node,
                             const boost::asio::ip::address& from,
                             const std::function<bool(const boost::asio::ip::address&)>& is_own);

}  // namespace trainyard::engine
