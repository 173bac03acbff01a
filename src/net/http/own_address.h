#pragma once

#include <boost/asio/ip/address.hpp>

namespace trainyard::http {

/// Whether it is an address of this machine, its loopback among them. Any thread.
[[nodiscard]] bool IsOwnAddress(const boost::asio::ip::address& address);

}  // namespace trainyard::http
