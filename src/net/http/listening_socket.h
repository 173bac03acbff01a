#pragma once

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

}  // namespace trainyard::http
