#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/async/unique_fd.h"
#include "base/result.h"

/// Listening sockets, before asio owns them. Blocks only for the system calls; any thread.

namespace trainyard::http {

struct ListeningSocket {
  UniqueFd descriptor;     ///< non-blocking
  std::uint16_t port = 0;  ///< TCP
};

/// See Server::ListenTcp for host and errors.
[[nodiscard]] Result<ListeningSocket> ListenOnTcp(const std::string& host, std::uint16_t port);
/// See Server::ListenUnix.
[[nodiscard]] Result<ListeningSocket> ListenOnUnix(const std::filesystem::path& path);

/// Whether it is an address of this machine, including the loopback. Any thread.
[[nodiscard]] bool IsOwnAddress(const boost::asio::ip::address& address);

}  // namespace trainyard::http
