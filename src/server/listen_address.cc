#include "server/listen_address.h"

#include <boost/asio/ip/address.hpp>

namespace trainyard::server {

Status CheckLoopback(const std::string& host) {
  if (host == "localhost") return {};
  boost::system::error_code error;
  const boost::asio::ip::address address = boost::asio::ip::make_address(host, error);
  if (error)
    return std::unexpected(InvalidArgument("--listen", "'" + host + "' is not an IP address or localhost"));
  if (address.is_loopback()) return {};
  return std::unexpected(FailedPrecondition(
      "refusing to listen on " + host +
      ": there is no authentication yet, and whoever reaches this server can run " +
      "programs as its user. Listen on 127.0.0.1 and let others in through an SSH tunnel"));
}

std::string Url(const char* scheme, const std::string& host, std::uint16_t port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return std::string(scheme) + "://" + (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<http::ListeningSocket> ListenOnFirst(const std::string& host,
                                            const std::vector<std::uint16_t>& ports) {
  for (std::size_t i = 0; i + 1 < ports.size(); ++i) {
    if (ports[i] == 0) continue;
    if (Result<http::ListeningSocket> socket = http::ListenOnTcp(host, ports[i])) return socket;
  }
  return http::ListenOnTcp(host, ports.back());
}

std::uint16_t PortBehind(std::uint16_t port, std::uint16_t distance) {
  const int behind = port + distance;
  return behind > 65'535 ? 0 : static_cast<std::uint16_t>(behind);
}

}  // namespace trainyard::server
