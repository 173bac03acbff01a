#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "http/listening_socket.h"

/// Where a server listens on TCP.
namespace trainyard::server {

/// kInvalidArgument: no address; kFailedPrecondition: one that other machines reach, with why that is
/// refused.
[[nodiscard]] Status CheckLoopback(const std::string& host);

/// "http://127.0.0.1:8470".
[[nodiscard]] std::string Url(const char* scheme, const std::string& host, std::uint16_t port);

/// A socket that listens on the first of the ports that is free (0: any). Zeros before the last are left out.
/// Errors: the last one's.
[[nodiscard]] Result<http::ListeningSocket> ListenOnFirst(const std::string& host,
                                                          const std::vector<std::uint16_t>& ports);

/// The port that is `distance` behind; 0 (any) where there is none.
[[nodiscard]] std::uint16_t PortBehind(std::uint16_t port, std::uint16_t distance);

}  // namespace trainyard::server
