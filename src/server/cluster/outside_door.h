#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mux/session.h"

/// What builds on nodes without a way out fetch by way of the server: package indexes, registries of images.
namespace trainyard::server {

struct OutsideTarget {
  std::string host;
  std::string port;
  friend bool operator==(const OutsideTarget&, const OutsideTarget&) = default;
};

/// Of "CONNECT example.com:443 HTTP/1.1" and header fields. Nothing: it is no such request. Pure: any thread.
/// Source: RFC 9110 section 9.3.6.
[[nodiscard]] std::optional<OutsideTarget> ParseConnect(std::string_view head);

/// Addresses that are this machine's own or no machine's: its services take who asks from here for a local
/// program. Any thread.
[[nodiscard]] bool IsOutside(const boost::asio::ip::address& address);

/// Serves one stream until it ends. The names are looked up here. Loop thread.
boost::asio::awaitable<void> ServeOutside(std::shared_ptr<mux::Stream> stream);

}  // namespace trainyard::server
